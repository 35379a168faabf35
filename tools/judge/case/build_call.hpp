// Turns a case into the call that a kernel gets.
#pragma once

#include "tools/judge/call/call.hpp"
#include "tools/judge/call/oracles.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// Inputs from the case's seed, tables and theta from the exact angles, poison in the outputs, canaries in the padding.
Call build_call(const Case& c, Oracles& oracles);

// The content of outputs before a call, as bits; it separates unwritten elements from wrong ones. A NaN with a payload
// that no computation makes. For one seed of four a number, if the type is so wide that results hardly ever equal it: a
// kernel must not see by its outputs that it is tested. Widths of 2, 4 and 8 bytes.
std::uint64_t poison(DType dtype, std::uint64_t seed);

// Fills a tensor's elements with poison, and notes it in the tensor.
void fill_with_poison(Tensor& tensor, std::uint64_t seed);

// The bytes between the elements of a strided tensor. Tensors that are only read hold another byte, so that a copy from
// gap to gap shows.
inline constexpr std::byte canary{0xC5};
inline constexpr std::byte input_canary{0xC6};

}  // namespace rope
