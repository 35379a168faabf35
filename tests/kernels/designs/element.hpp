// Elements as types, so that a kernel is compiled for each: the 16-bit ones are kept as their bits.
#pragma once

#include <cstdint>
#include <type_traits>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/legal/element.hpp"

namespace rope::designs {

struct Half {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};

inline double widen(double value) { return value; }
inline float widen(float value) { return value; }
inline float widen(Half value) { return legal::from_half(value.bits); }
inline float widen(Bfloat16 value) { return legal::from_bfloat16(value.bits); }

template <class T, class W>
T narrow(W value) {
  if constexpr (std::is_same_v<T, Half>) {
    return Half{legal::to_half(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return Bfloat16{legal::to_bfloat16(static_cast<float>(value))};
  } else {
    return static_cast<T>(value);
  }
}

// A value after it was stored in an element of type T.
template <class T>
float rounded(float value) {
  return widen(narrow<T>(value));
}

// Calls visit(T{}) with the element type T of dtype, which must be one of Elements.
template <class... Elements, class Visit>
void with_element(std::int32_t dtype, Visit visit) {
  constexpr auto dtype_of = []<class T>(T) -> std::int32_t {
    if constexpr (std::is_same_v<T, double>) return ROPE_F64;
    if constexpr (std::is_same_v<T, float>) return ROPE_F32;
    if constexpr (std::is_same_v<T, Half>) return ROPE_F16;
    return ROPE_BF16;
  };
  (void)((dtype == dtype_of(Elements{}) && (visit(Elements{}), true)) || ...);
}

}  // namespace rope::designs
