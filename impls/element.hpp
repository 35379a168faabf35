// Element types that a rotation loop reads and writes in one pass: float and double as they are, bfloat16 by way of
// float.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace rope {

struct Bfloat16 {
  std::uint16_t bits;
};

// The type that elements of E are computed in.
template <class E>
using Working = std::conditional_t<std::is_same_v<E, Bfloat16>, float, E>;

[[gnu::always_inline]] inline float widen(float value) { return value; }
[[gnu::always_inline]] inline double widen(double value) { return value; }
[[gnu::always_inline]] inline float widen(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

// Rounds to nearest even. To bfloat16 only for values computed from bfloat16 and the rows of AngleRows: their NaNs are
// quiet and have zeros in the lower half, which the addition leaves a NaN. A test for NaN would cost a third of the
// speed.
template <class E>
[[gnu::always_inline]] inline E narrow(Working<E> value) {
  if constexpr (std::is_same_v<E, Bfloat16>) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  } else {
    return value;
  }
}

}  // namespace rope
