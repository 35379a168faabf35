// Rotations of heads of binary16 in one pass over memory, for processors that convert eight at a time (F16C). Going
// through float rows (each_token.hpp) takes over half as long again. g++ 12 does not vectorise conversions to or from
// binary16. So these two are written by hand; the kernels share them.
#pragma once

#include "impls/each_token.hpp"

namespace rope {

// Null if the processor has no F16C. Results have the same bits as through float rows.
RotateHalf half_split_in_f16();   // pairs (p, p + r/2)
RotateHalf interleaved_in_f16();  // pairs (2p, 2p + 1)

}  // namespace rope
