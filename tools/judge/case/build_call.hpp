// Turns a case into the call that a kernel gets.
#pragma once

#include "tools/judge/call/call.hpp"
#include "tools/judge/call/oracles.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// Inputs from the case's seed, tables and theta from the exact angles, poison in the outputs, canaries in the padding.
// Large inputs lie in `memory`, if there is one.
Call build_call(const Case& c, Oracles& oracles, TensorMemory* memory = nullptr);

// The bytes between the elements of a strided tensor. Tensors that are only read hold another byte, so that a copy from
// gap to gap shows.
inline constexpr std::byte canary{0xC5};
inline constexpr std::byte input_canary{0xC6};

}  // namespace rope
