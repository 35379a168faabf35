// The ways in which a right kernel may compute: a way of angles.hpp with a way of rotation.hpp. Each has the widest
// claims that it can keep.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/legal/claims.hpp"

namespace rope::legal {

struct Algorithm {
  const char* name;
  const char* description;
  // A call outside the claims is refused, so that the suite cannot make one unnoticed.
  std::int32_t (*apply)(const rope_call*, const rope_capabilities&);
  rope_capabilities (*claims)();
};

extern const std::array<Algorithm, 17> algorithms;
extern const std::array<Algorithm, 18> narrow_algorithms;  // with narrow claims, as kernels in use have them

// apply gets only the call, so each kernel of a list has its own function.
template <const auto& list, std::size_t index>
std::int32_t apply_entry(const rope_call* call) {
  return list[index].apply(call, list[index].claims());
}

template <const auto& list, std::size_t... index>
auto kernels_of(std::index_sequence<index...>) {
  return std::array{rope_kernel{sizeof(rope_kernel), ROPE_KERNEL_ABI, list[index].name, list[index].description,
                                apply_entry<list, index>, list[index].claims()}...};
}

}  // namespace rope::legal
