// Rotations of heads of binary16 in one pass over memory, for processors that convert eight at a time (F16C). What the
// kernels of this folder do by way of float rows (each_token.hpp) takes over half as long again. g++ 12 makes vector
// code of no conversion to or from binary16, so these two are written out, and shared by the kernels.
#pragma once

#include "impls/each_token.hpp"

namespace rope {

// Null where the processor has no F16C. The same bits as by way of float rows.
RotateHalf half_split_in_f16();   // pairs (p, p + r/2)
RotateHalf interleaved_in_f16();  // pairs (2p, 2p + 1)

}  // namespace rope
