#include "tools/judge/case/narrower_claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/single_claims.hpp"

namespace rope {
namespace {

// A claim that a kernel could do without, and the cases that need it.
struct Droppable {
  std::string words;  // empty: positions
  std::function<void(Claims&)> drop;
  std::vector<bool> failing, passing;
  std::int64_t failures = 0, passes = 0;
};

// The positions from which on a failing case is met, one for each power of two. Short sequences are asked of any
// kernel.
std::vector<std::int64_t> first_failing_positions(std::span<const Case> failing) {
  constexpr std::int64_t long_enough = 256;
  std::map<int, std::int64_t> first;
  for (const Case& c : failing) {
    const std::int64_t position = largest_position(c);
    if (position <= long_enough) continue;
    const auto width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(position)));
    const auto found = first.try_emplace(width, position).first;
    found->second = std::min(found->second, position);
  }
  std::vector<std::int64_t> positions;
  for (const auto& [_, position] : first) positions.push_back(position);
  return positions;
}

std::vector<Droppable> claims_to_drop(const Claims& claims, std::span<const Case> failing) {
  std::vector<Droppable> all;
  for (SingleClaim& claim : single_claims()) {
    Claims without = claims;
    claim.make(without, false);
    const rope_capabilities& left = without.capabilities;
    const bool is_required = (left.required_features & ~left.features) != 0;
    if (!claim.is_made(claims) || is_required || !keeps_meaning(claims.capabilities, left)) continue;
    all.push_back({claim.words, [make = claim.make](Claims& c) { make(c, false); }, {}, {}});
  }
  for (const std::int32_t dim : claims.head_dims) {
    if (claims.head_dims.size() == 1) break;
    all.push_back({fmt::format("head_dim {}", dim), [=](Claims& c) { std::erase(c.head_dims, dim); }, {}, {}});
  }
  for (const std::int64_t position : first_failing_positions(failing)) {
    all.push_back({"", [=](Claims& c) { c.capabilities.max_position = position - 1; }, {}, {}});
  }
  return all;
}

void find_needs(Droppable& claim, const Claims& claims, std::span<const Case> failing, std::span<const Case> passing) {
  Claims without = claims;
  claim.drop(without);
  const auto needs = [&](std::span<const Case> cases, std::vector<bool>& found) {
    std::int64_t count = 0;
    for (const Case& c : cases) {
      found.push_back(!uncovered(c, without).empty());
      count += found.back() ? 1 : 0;
    }
    return count;
  };
  claim.failures = needs(failing, claim.failing);
  if (claim.failures > 0) claim.passes = needs(passing, claim.passing);
}

// The failing cases that still lie within the claims.
std::vector<std::size_t> left(const std::vector<Droppable>& dropped, std::size_t failing) {
  std::vector<std::size_t> cases;
  for (std::size_t i = 0; i < failing; ++i) {
    if (std::ranges::none_of(dropped, [&](const Droppable& claim) { return claim.failing[i]; })) cases.push_back(i);
  }
  return cases;
}

// A claim without a passing case is the first to go. Else the one with the most failing cases for each passing one.
std::vector<Droppable>::iterator worst(std::vector<Droppable>& candidates, const std::vector<std::size_t>& cases) {
  double most = 0;
  auto found = candidates.end();
  for (auto claim = candidates.begin(); claim != candidates.end(); ++claim) {
    const auto met = std::ranges::count_if(cases, [&](std::size_t i) { return claim->failing[i]; });
    const double worth = static_cast<double>(met) / (static_cast<double>(claim->passes) + 0.01);
    if (worth > most) {
      most = worth;
      found = claim;
    }
  }
  return found;
}

}  // namespace

std::optional<NarrowerClaims> narrower_claims(const Claims& claims, std::span<const Case> failing,
                                              std::span<const Case> passing) {
  std::vector<Droppable> candidates = claims_to_drop(claims, failing);
  for (Droppable& claim : candidates) find_needs(claim, claims, failing, passing);
  std::erase_if(candidates, [](const Droppable& claim) { return claim.failures == 0; });
  std::vector<Droppable> dropped;
  for (std::vector<std::size_t> cases = left(dropped, failing.size()); !cases.empty();
       cases = left(dropped, failing.size())) {
    const auto next = worst(candidates, cases);
    if (next == candidates.end()) return std::nullopt;
    dropped.push_back(std::move(*next));
    candidates.erase(next);
  }
  // Later ones may have made an earlier one needless.
  for (std::size_t i = 0; i < dropped.size();) {
    std::vector<Droppable> others = dropped;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (left(others, failing.size()).empty()) {
      dropped = std::move(others);
    } else {
      ++i;
    }
  }
  NarrowerClaims result{claims, {}, false};
  for (const Droppable& claim : dropped) {
    claim.drop(result.claims);
    result.has_fewer_positions = result.has_fewer_positions || claim.words.empty();
    if (!claim.words.empty()) result.dropped.push_back(claim.words);
  }
  const auto is_left = [&](const Case& c) { return uncovered(c, result.claims).empty(); };
  return dropped.empty() || std::ranges::none_of(passing, is_left) ? std::nullopt : std::optional(std::move(result));
}

}  // namespace rope
