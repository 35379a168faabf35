#include "tools/diagnose/angle_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
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
constexpr double reduced = 64;
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

// The integer that a number of turns overflows at an angle that is above `right` and not above `wrong`, if there is one
// only.
std::string overflown(double right, double wrong) {
  struct Turns {
    const char* words;
    double radians;
  };
  constexpr Turns turns[] = {
      {"quarter", std::numbers::pi / 2}, {"half", std::numbers::pi}, {"whole", 2 * std::numbers::pi}};
  std::string found;
  for (const Turns& of : turns) {
    for (const int bits : {7, 8, 15, 16, 31, 32}) {
      const double count = std::ldexp(1.0, bits);
      // Rounded to nearest, it is reached half a turn before.
      if (of.radians * count <= right || of.radians * (count - 0.5) > wrong) continue;
      if (!found.empty()) return "";
      found = fmt::format("the number of {} turns does not fit into {} integer of {} bits", of.words,
                          bits % 8 == 0 ? "an unsigned" : "a signed", (bits + 7) / 8 * 8);
    }
  }
  return found;
}

std::optional<Candidate> beyond_an_angle(const Pairs& pairs) {
  const double least = std::min_element(pairs.wrong.begin(), pairs.wrong.end(), [](const Pair& a, const Pair& b) {
                         return a.angle < b.angle;
                       })->angle;
  const double by_angle = share(pairs, [](const Pair& p) { return p.angle; });
  const double by_position = share(pairs, [](const Pair& p) { return static_cast<double>(p.position); });
  if (least < reduced || by_angle < least_share || by_angle < clearly * by_position) return std::nullopt;
  double below = 0;
  for (const Pair& pair : pairs.right) below = std::max(below, pair.angle < least ? pair.angle : 0);
  const std::string overflow = overflown(below, least);
  return Candidate{BugClass::precision,
                   fmt::format("pairs that turn by {:.4g} radians or more are wrong at any position: {}", least,
                               overflow.empty() ? "large angles are reduced inaccurately" : overflow),
                   "", by_angle};
}

// Polynomials for sine and cosine hold up to pi/4. Beyond it, a kernel that cuts the number of quadrants off and does
// not round it uses them up to pi/2.
std::optional<Candidate> in_half_of_quadrants(const Pairs& pairs) {
  const auto in_half = [](const std::vector<Pair>& of, bool second) {
    return static_cast<double>(std::ranges::count_if(of, [second](const Pair& p) {
      const double quadrants = p.angle / (std::numbers::pi / 2);
      return (quadrants - std::floor(quadrants) > 0.5) == second;
    }));
  };
  const auto share_of = [&](bool second) {
    const double wrong = in_half(pairs.wrong, second), right = in_half(pairs.right, second);
    return wrong / std::max(wrong + right, 1.0);
  };
  constexpr double hardly = 0.02;
  const double in_first = share_of(false), in_second = share_of(true);
  if (in_second < least_share || in_first > hardly) return std::nullopt;
  return Candidate{
      BugClass::precision,
      "cos and sin are wrong where the angle is in the second half of its quadrant: they are computed there "
      "as in the first half, by approximations that do not reach so far",
      "", in_second};
}

}  // namespace

std::optional<Candidate> told_by_angle(const Observations& seen) {
  Pairs pairs;
  for (const auto& one : seen) collect(*one, pairs);
  if (pairs.wrong.size() < enough) return std::nullopt;
  if (auto beyond = beyond_an_angle(pairs)) return beyond;
  return in_half_of_quadrants(pairs);
}

}  // namespace rope::diagnosis
