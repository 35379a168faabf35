// What outputs hold before a call.
#pragma once

#include <cstdint>

#include "tools/judge/call/call.hpp"

namespace rope {

// The content of outputs before a call, as bits; it separates unwritten elements from wrong ones. A NaN with a payload
// that no computation makes. For one seed of four a number, if the type is so wide that results hardly ever equal it: a
// kernel must not see by its outputs that it is tested. Widths of 2, 4 and 8 bytes.
std::uint64_t poison(DType dtype, std::uint64_t seed);

// Fills a tensor's elements with poison, and notes it in the tensor.
void fill_with_poison(Tensor& tensor, std::uint64_t seed);

}  // namespace rope
