// What may happen to a position before it becomes an angle.
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

// All rules to try. `positions`: as given, one per token. `first`: the first position that was changed.
std::vector<PositionRule> position_rules(const std::vector<std::int64_t>& positions, std::int64_t first);

}  // namespace rope
