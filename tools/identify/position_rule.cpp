#include "tools/identify/position_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reference/dtype.hpp"

namespace rope {

std::vector<PositionRule> position_rules(const std::vector<std::int64_t>& positions, std::int64_t first) {
  std::vector<PositionRule> rules;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    rules.push_back({fmt::format("positions are rounded to {}", name(dtype)), [dtype](std::int64_t m) {
                       std::uint64_t bits = 0;
                       store(dtype, &bits, static_cast<double>(m));
                       const double value = load(dtype, &bits);
                       return std::isfinite(value) ? static_cast<std::int64_t>(value) : -1;
                     }});
  }
  rules.push_back({"every position is taken for 0", [](std::int64_t) { return 0; }});
  rules.push_back({fmt::format("positions from {} on are taken for the one before", first),
                   [first](std::int64_t m) { return std::min(m, first - 1); }});
  for (int bits = 3; bits < 40; ++bits) {
    const std::int64_t period = std::int64_t{1} << bits;
    rules.push_back({fmt::format("positions start again at 0 from {} on", period),
                     [period](std::int64_t m) { return m % period; }});
    // As if they were read as signed integers of that many bits.
    rules.push_back({fmt::format("positions from {} on wrap to negative ones", period),
                     [period](std::int64_t m) { return (m + period) % (2 * period) - period; }});
  }
  rules.push_back(
      {"given positions are ignored: every token is one further than the one before", [positions](std::int64_t m) {
         return static_cast<std::int64_t>(std::lower_bound(positions.begin(), positions.end(), m) - positions.begin());
       }});
  return rules;
}

}  // namespace rope
