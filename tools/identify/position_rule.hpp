// What may become of a position on its way into an angle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rope {

struct PositionRule {
  std::string words;
  std::function<std::int64_t(std::int64_t)> of;
};

// All that are tried. `positions`: as they are given, one a token; `first`: the first that was seen to be another.
std::vector<PositionRule> position_rules(const std::vector<std::int64_t>& positions, std::int64_t first);

}  // namespace rope
