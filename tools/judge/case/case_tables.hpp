// The tables of cos and sin that a case gives to the kernel.
#pragma once

#include <cstdint>

#include "tools/judge/call/oracles.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// One row for each position 0 .. rows-1, in the case's type and width, each entry rounded once. The padding behind a
// row has room for a second one. Cases with the same rows share their memory. Large tables lie in `memory`, if there is
// one.
Oracles::Tables case_tables(const Case& c, bool padded_rows, std::int64_t rows, Oracles& oracles, TensorMemory* memory);

}  // namespace rope
