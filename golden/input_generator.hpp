// Input values as a pure function of (seed, index, dtype), the same bits as golden/regenerate/inputs.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/dtype.hpp"

namespace rope {

// `count` values of a floating dtype, magnitudes 2^-4 up to 2^4, both signs, every bit of the significand random. The
// bits are assembled without arithmetic, so no compiler or rounding mode can change them. Throws std::invalid_argument
// for integer dtypes.
std::vector<std::byte> generate_input(std::uint64_t seed, std::size_t count, DType dtype);

// As many as fit into `bytes`.
void generate_input(std::uint64_t seed, DType dtype, std::span<std::byte> bytes);

}  // namespace rope
