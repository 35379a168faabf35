// A tensor's memory as the model works on it, padding included.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/judge/call/call.hpp"

namespace rope::diagnosis {

// What the elements were before the call.
struct Elements {
  std::vector<double> value;
  std::int64_t origin = 0;  // the element at data()

  explicit Elements(const Tensor& tensor) : origin(tensor.origin) {
    const std::size_t size = size_of(tensor.dtype);
    value.resize(tensor.bytes.size() / size);
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = load(tensor.dtype, tensor.bytes.data() + i * size);
  }
};

// The same while a call is made, and the uncertainty of each element.
struct Memory {
  std::vector<double> value, bound;
  std::vector<char> written;
  std::int64_t origin;

  explicit Memory(const Elements& before)
      : value(before.value), bound(value.size(), 0), written(value.size(), 0), origin(before.origin) {}

  bool holds(std::int64_t index) const {
    return index + origin >= 0 && index + origin < static_cast<std::int64_t>(value.size());
  }
  std::size_t at(std::int64_t index) const { return static_cast<std::size_t>(index + origin); }
};

}  // namespace rope::diagnosis
