// Element types that a rotation loop reads and writes in one pass: float and double directly, bfloat16 and binary16
// through float.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace rope {

struct Bfloat16 {
  std::uint16_t bits;
};

struct Half {
  std::uint16_t bits;
};

// The type that computes with elements of E.
template <class E>
using Working = std::conditional_t<std::is_same_v<E, Bfloat16> || std::is_same_v<E, Half>, float, E>;

[[gnu::always_inline]] inline float widen(float value) { return value; }
[[gnu::always_inline]] inline double widen(double value) { return value; }
[[gnu::always_inline]] inline float widen(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

// The bits of the nearest bfloat16, ties to even, in the upper half; the lower half is arbitrary. Only for values
// computed from bfloat16 and the rows of AngleRows. Their NaNs are quiet and have zeros in the lower half, so they stay
// NaN under the addition. A test for NaN would cost a third of the speed.
[[gnu::always_inline]] inline std::uint32_t round_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return bits + 0x7fff + (bits >> 16 & 1);
}

template <class E>
[[gnu::always_inline]] inline E narrow(Working<E> value) {
  if constexpr (std::is_same_v<E, Bfloat16>) {
    return {static_cast<std::uint16_t>(round_to_bfloat16(value) >> 16)};
  } else {
    return value;
  }
}

// Two neighbours in memory. Two bfloat16 share a word of 32 bits, which spares the compiler every permutation.
template <class E>
struct Pair {
  Working<E> first;
  Working<E> second;
};

template <class E>
[[gnu::always_inline]] inline Pair<E> load_pair(const E* x) {
  if constexpr (std::is_same_v<E, Bfloat16> && std::endian::native == std::endian::little) {
    std::uint32_t word;
    std::memcpy(&word, x, sizeof word);
    return {std::bit_cast<float>(word << 16), std::bit_cast<float>(word & 0xffff0000)};
  } else {
    return {widen(x[0]), widen(x[1])};
  }
}

template <class E>
[[gnu::always_inline]] inline void store_pair(E* y, const Pair<E>& pair) {
  if constexpr (std::is_same_v<E, Bfloat16> && std::endian::native == std::endian::little) {
    const std::uint32_t word = round_to_bfloat16(pair.first) >> 16 | (round_to_bfloat16(pair.second) & 0xffff0000);
    std::memcpy(y, &word, sizeof word);
  } else {
    y[0] = narrow<E>(pair.first);
    y[1] = narrow<E>(pair.second);
  }
}

}  // namespace rope
