#include "reference/did_you_mean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace rope {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Optimal string alignment: insertions, deletions, replacements and exchanged neighbours, each one step.
std::size_t steps_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t differs = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + differs});
      const bool exchanged = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known, std::string_view before,
                         std::string_view after) {
  std::string_view nearest;
  std::size_t fewest = word.size() / 3;  // more steps than this make another word
  for (const std::string_view candidate : known) {
    const std::size_t longer = std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size());
    if (longer > fewest) continue;  // it takes at least as many steps
    const std::size_t steps = steps_between(word, candidate);
    if (steps > fewest || (steps == fewest && !nearest.empty())) continue;
    fewest = steps;
    nearest = candidate;
  }
  return nearest.empty() ? "" : fmt::format("{}did you mean {}?{}", before, nearest, after);
}

std::string not_known(std::string_view word, const std::vector<std::string_view>& known) {
  std::string all;
  for (std::size_t i = 0; i < known.size(); ++i) {
    all += fmt::format("{}{}", i == 0 ? "" : i + 1 == known.size() ? " or " : ", ", known[i]);
  }
  return fmt::format("\"{}\" is not known; {}use {}", word, did_you_mean(word, known), all);
}

bool same_word(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, lower, lower);
}

}  // namespace rope
