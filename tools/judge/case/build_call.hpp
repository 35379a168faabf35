// From a case to the call that a kernel is given.
#pragma once

#include "tools/judge/call/call.hpp"
#include "tools/judge/call/oracles.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// Inputs by the case's seed, tables and theta from the exact angles, outputs filled with poison, padding with canaries.
Call build_call(const Case& c, Oracles& oracles);

// What outputs hold before a call: a NaN with a payload that no computation makes, so that an element that was never
// written is told apart from a wrong one. Widths of 2, 4 and 8 bytes.
std::uint64_t poison(DType dtype);

// Fills a tensor's elements with poison.
void fill_with_poison(Tensor& tensor);

// What the bytes of a strided tensor between its elements hold, and of one that is only read: another byte, so that a
// copy from gap to gap shows.
inline constexpr std::byte canary{0xC5};
inline constexpr std::byte input_canary{0xC6};

}  // namespace rope
