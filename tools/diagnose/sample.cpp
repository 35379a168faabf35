#include "tools/diagnose/sample.hpp"

#include <algorithm>

namespace rope::diagnosis {
namespace {

constexpr std::size_t most_failed = 40;
constexpr std::size_t most_passed = 60;

}  // namespace

Sample sample_of(const Observations& seen) {
  Sample sample;
  for (const auto& one : seen) (one->failed() ? sample.failed : sample.passed).push_back(one.get());
  const auto spread = [](std::vector<const Observation*>& list, std::size_t most) {
    // Decisive cases are added; they must not push out another case that tells causes apart.
    const auto decisive =
        std::stable_partition(list.begin(), list.end(), [](const auto* one) { return !one->decisive; });
    const auto others = static_cast<std::size_t>(decisive - list.begin());
    if (others <= most) return;
    std::vector<const Observation*> kept;
    for (std::size_t i = 0; i < others; ++i) {
      if (i * most / others != (i + 1) * most / others) kept.push_back(list[i]);
    }
    kept.insert(kept.end(), decisive, list.end());
    list = kept;
  };
  spread(sample.failed, most_failed);
  spread(sample.passed, most_passed);
  return sample;
}

std::vector<std::size_t> some_of(std::size_t count, std::size_t most) {
  const std::size_t few = std::min(most, count);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < few; ++i) chosen.push_back(i * count / few);
  return chosen;
}

}  // namespace rope::diagnosis
