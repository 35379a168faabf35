#include "tools/diagnose/large_angles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace rope::diagnosis {
namespace {

struct Pair {
  double angle;  // radians, without its sign
  std::int64_t position;
};

struct Pairs {
  std::vector<Pair> wrong, right;
};

// Below this angle, no argument reduction is at fault.
constexpr double large = 64;
constexpr std::size_t enough = 8;
// A lost sign is the mildest of these mistakes. It makes half of the pairs beyond the angle wrong, and some of them by
// less than the bound.
constexpr double least_share = 0.3;
constexpr double clearly = 1.5;

void collect(const Observation& seen, Pairs& pairs) {
  if (!seen.answered() || seen.before.source == AngleSource::tables) return;
  Expectation expectation = *seen.expectation;
  const auto dim = static_cast<std::size_t>(seen.head_dim);
  for (std::size_t r = 0; r < seen.rows.size(); ++r) {
    const std::vector<PairAngle>& angles = expectation.angles(seen.rows[r].batch, seen.rows[r].seq);
    for (std::size_t p = 0; p < angles.size(); ++p) {
      const Pair pair{std::fabs(angles[p].phi), expectation.position(p)};
      const auto is_right = [&](int feature) {
        return seen.wrong_elements[r * dim + static_cast<std::size_t>(feature)] == 0;
      };
      const bool right = is_right(expectation.first(p)) && is_right(expectation.second(p));
      (right ? pairs.right : pairs.wrong).push_back(pair);
    }
  }
}

// Of the pairs from the smallest wrong one on, the share that is wrong.
template <class Of>
double share(const Pairs& pairs, Of of) {
  auto least = std::numeric_limits<double>::infinity();
  for (const Pair& pair : pairs.wrong) least = std::min(least, of(pair));
  const auto right =
      std::count_if(pairs.right.begin(), pairs.right.end(), [&](const Pair& p) { return of(p) >= least; });
  const auto wrong = static_cast<double>(pairs.wrong.size());
  return wrong / (wrong + static_cast<double>(right));
}

}  // namespace

std::optional<Candidate> beyond_an_angle(const Observations& seen) {
  Pairs pairs;
  for (const auto& one : seen) collect(*one, pairs);
  if (pairs.wrong.size() < enough) return std::nullopt;
  const double least = std::min_element(pairs.wrong.begin(), pairs.wrong.end(), [](const Pair& a, const Pair& b) {
                         return a.angle < b.angle;
                       })->angle;
  const double by_angle = share(pairs, [](const Pair& p) { return p.angle; });
  const double by_position = share(pairs, [](const Pair& p) { return static_cast<double>(p.position); });
  if (least < large || by_angle < least_share || by_angle < clearly * by_position) return std::nullopt;
  return Candidate{BugClass::precision,
                   fmt::format("pairs that turn by {:.4g} radians or more are wrong at any position: "
                               "large angles are reduced inaccurately",
                               least),
                   "", by_angle};
}

}  // namespace rope::diagnosis
