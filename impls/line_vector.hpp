// A vector whose elements begin at a cache line. Rows that straddle two lines cost the rotation loops a third of their
// speed if vectors are as wide as a line.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace rope {

inline constexpr std::size_t cache_line = 64;  // bytes

template <class T>
struct LineAllocator {
  using value_type = T;

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{cache_line})); }
  void deallocate(T* pointer, std::size_t) { ::operator delete (pointer, std::align_val_t{cache_line}); }

  template <class U>
  bool operator==(const LineAllocator<U>&) const {
    return true;
  }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace rope
