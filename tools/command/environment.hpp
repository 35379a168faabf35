// The environment variables that a user may set.
#pragma once

#include <span>
#include <string_view>

namespace rope {

struct Variable {
  std::string_view name;
  std::string_view meaning;
};

std::span<const Variable> variables();

}  // namespace rope
