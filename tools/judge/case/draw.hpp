// Draw: the choices that make random cases. How many numbers each choice takes from the stream is part of every list
// of cases: one number more changes all cases after it.
#pragma once

#include <rapidcheck/Random.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace rope {

class Draw {
 public:
  explicit Draw(rc::Random& random) : random_(random) {}

  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_.next() % static_cast<std::uint64_t>(n));
  }
  int between(int low, int high) { return low + static_cast<int>(below(high - low + 1)); }
  bool one_in(int n) { return below(n) == 0; }

  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<std::int64_t>(values.size()))];
  }
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
  }

 private:
  rc::Random& random_;
};

}  // namespace rope
