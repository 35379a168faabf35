// The loops around every rotation of contiguous heads.
#pragma once

#include <cstdint>

#include "impls/each_token.hpp"
#include "impls/multiversion.hpp"
#include "impls/prefetch.hpp"

namespace rope {

// Calls turn(x, y) for each head, and prefetches the lines that later heads are read from and written to.
template <class E, class Turn>
[[gnu::always_inline]] inline void for_each_head(const Heads<E>& heads, int pairs, const Turn& turn) {
  for (std::int64_t h = 0; h < heads.count; ++h) {
    const E* x = heads.x + h * heads.x_stride;
    E* y = heads.y + h * heads.y_stride;
    prefetch_ahead(x, y, 2 * pairs);
    turn(x, y);
  }
}

// Calls turn(p) for p in 0 .. pairs - 1, in any order. No two of the calls touch the same element.
// Most of it runs with a trip count that the compiler knows, as straight vector code. With a count known only at run
// time, bf16 spent a quarter of its time around the loop.
template <class Turn>
[[gnu::always_inline]] inline void for_each_pair(int pairs, const Turn& turn) {
  constexpr int block = 32;
  int first = 0;
  for (; first + block <= pairs; first += block) {
    ROPE_INDEPENDENT_ITERATIONS
    for (int i = 0; i < block; ++i) turn(first + i);
  }
  ROPE_INDEPENDENT_ITERATIONS
  for (int p = first; p < pairs; ++p) turn(p);
}

}  // namespace rope
