#include "reference/scaling/kept_frequencies.hpp"

#include <algorithm>

namespace rope {

const std::vector<long double>& kept_frequencies(const Scaling& rule, const scaling::Setting& setting) {
  struct Kept {
    Scaling rule;
    scaling::Setting setting;
    std::vector<long double> theta;
  };
  constexpr std::size_t most = 8;
  thread_local std::vector<Kept> all;
  const auto found =
      std::ranges::find_if(all, [&](const Kept& kept) { return kept.setting == setting && kept.rule == rule; });
  if (found != all.end()) return found->theta;
  if (all.size() == most) all.erase(all.begin());
  return all.emplace_back(rule, setting, frequencies<long double>(rule, setting)).theta;
}

}  // namespace rope
