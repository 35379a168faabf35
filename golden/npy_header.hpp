// The header of a .npy file: a Python dict literal of three keys, in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "golden/npy.hpp"

namespace rope {

struct NpyHeader {
  NpyType type = NpyType::f4;
  std::vector<std::int64_t> shape;
};

// `text`: the dict with its padding. `offset`: byte of the file at which it starts, for messages.
NpyHeader parse_npy_header(std::string_view text, std::size_t offset, std::string_view where);

}  // namespace rope
