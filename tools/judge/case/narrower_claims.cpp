#include "tools/judge/case/narrower_claims.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

// A claim that a kernel could do without, and the cases that need it.
struct Claim {
  std::function<void(Claims&)> drop;
  std::string words;  // empty: no case needs it
  std::vector<bool> failing, passing;
  std::int64_t failures = 0, passes = 0;
};

using Masks = std::vector<std::function<std::uint32_t&(rope_capabilities&)>>;

// Without the last bit of these, the claims would mean nothing. Features can all be missing.
Masks masks_with_one_bit_at_least() {
  Masks masks{[](rope_capabilities& k) -> std::uint32_t& { return k.table_dtypes; },
              [](rope_capabilities& k) -> std::uint32_t& { return k.theta_dtypes; },
              [](rope_capabilities& k) -> std::uint32_t& { return k.position_dtypes; },
              [](rope_capabilities& k) -> std::uint32_t& { return k.pairings; },
              [](rope_capabilities& k) -> std::uint32_t& { return k.angle_sources; },
              [](rope_capabilities& k) -> std::uint32_t& { return k.scalings; }};
  for (std::size_t input = 0; input < std::size(rope_capabilities{}.out_dtypes); ++input) {
    masks.push_back([input](rope_capabilities& k) -> std::uint32_t& { return k.out_dtypes[input]; });
  }
  return masks;
}

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

std::vector<Claim> claims_to_drop(const Claims& claims, std::span<const Case> failing) {
  rope_capabilities k = claims.capabilities;
  std::vector<Claim> all;
  const auto add = [&](std::function<void(Claims&)> drop) { all.push_back({std::move(drop), "", {}, {}}); };
  // Before the single outputs: of claims that do equally well, the first is taken.
  for (std::size_t input = 0; input < std::size(k.out_dtypes); ++input) {
    if (k.out_dtypes[input] != 0) add([=](Claims& c) { c.capabilities.out_dtypes[input] = 0; });
  }
  for (const auto& mask : masks_with_one_bit_at_least()) {
    for (std::uint32_t bit = 1; std::popcount(mask(k)) > 1 && bit != 0; bit <<= 1) {
      if ((mask(k) & bit) != 0) add([=](Claims& c) { mask(c.capabilities) &= ~bit; });
    }
  }
  for (std::uint32_t bit = 1; bit != 0; bit <<= 1) {
    if ((k.features & ~k.required_features & bit) != 0) add([=](Claims& c) { c.capabilities.features &= ~bit; });
  }
  if (k.half_tables != 0 && k.full_tables != 0) {
    add([](Claims& c) { c.capabilities.half_tables = 0; });
    add([](Claims& c) { c.capabilities.full_tables = 0; });
  }
  for (const std::int32_t dim : claims.head_dims) {
    if (claims.head_dims.size() > 1) add([=](Claims& c) { std::erase(c.head_dims, dim); });
  }
  for (const std::int64_t position : first_failing_positions(failing)) {
    add([=](Claims& c) { c.capabilities.max_position = position - 1; });
  }
  return all;
}

// "in place is not claimed" -> "in place"
std::string without_verb(const std::string& why) {
  return why.substr(0, std::min(why.find(" is not "), why.find(" are not ")));
}

void find_needs(Claim& claim, const Claims& claims, std::span<const Case> failing, std::span<const Case> passing) {
  Claims without = claims;
  claim.drop(without);
  const auto needs = [&](std::span<const Case> cases, std::vector<bool>& found) {
    std::int64_t count = 0;
    for (const Case& c : cases) {
      const std::string why = uncovered(c, without);
      found.push_back(!why.empty());
      count += why.empty() ? 0 : 1;
      if (claim.words.empty()) claim.words = without_verb(why);
    }
    return count;
  };
  claim.failures = needs(failing, claim.failing);
  if (claim.failures > 0) claim.passes = needs(passing, claim.passing);
}

// The failing cases that still lie within the claims.
std::vector<std::size_t> left(const std::vector<Claim>& dropped, std::size_t failing) {
  std::vector<std::size_t> cases;
  for (std::size_t i = 0; i < failing; ++i) {
    if (std::ranges::none_of(dropped, [&](const Claim& claim) { return claim.failing[i]; })) cases.push_back(i);
  }
  return cases;
}

// A claim without a passing case is the first to go. Else the one with the most failing cases for each passing one.
std::vector<Claim>::iterator worst(std::vector<Claim>& candidates, const std::vector<std::size_t>& cases) {
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
  std::vector<Claim> candidates = claims_to_drop(claims, failing);
  for (Claim& claim : candidates) find_needs(claim, claims, failing, passing);
  std::erase_if(candidates, [](const Claim& claim) { return claim.failures == 0; });
  std::vector<Claim> dropped;
  for (std::vector<std::size_t> cases = left(dropped, failing.size()); !cases.empty();
       cases = left(dropped, failing.size())) {
    const auto next = worst(candidates, cases);
    if (next == candidates.end()) return std::nullopt;
    dropped.push_back(std::move(*next));
    candidates.erase(next);
  }
  // Later ones may have made an earlier one needless.
  for (std::size_t i = 0; i < dropped.size();) {
    std::vector<Claim> others = dropped;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (left(others, failing.size()).empty()) {
      dropped = std::move(others);
    } else {
      ++i;
    }
  }
  NarrowerClaims result{claims, {}};
  for (const Claim& claim : dropped) {
    claim.drop(result.claims);
    result.dropped.push_back(claim.words);
  }
  const auto is_left = [&](const Case& c) { return uncovered(c, result.claims).empty(); };
  return dropped.empty() || std::ranges::none_of(passing, is_left) ? std::nullopt : std::optional(std::move(result));
}

}  // namespace rope
