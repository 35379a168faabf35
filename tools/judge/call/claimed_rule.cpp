#include "tools/judge/call/claimed_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "impls/contract.hpp"
#include "impls/scaling_fields.hpp"

namespace rope {
namespace {

// "yarn_clamp_pairs 1" for each choice that the rule has and the claims do not.
std::vector<std::string> unclaimed_choices(const Scaling& rule, const rope_capabilities& claims) {
  std::vector<std::string> unclaimed;
  const auto look = [&](std::string_view field, std::int32_t value) {
    for (const ScalingMode& mode : scaling_modes) {
      const std::uint32_t claimed = claims.*mode.claimed;
      if (mode.of_rule != field || claimed == 0 || (claimed >> value & 1u) != 0) continue;
      unclaimed.push_back(fmt::format("{} {}", mode.name, value));
    }
  };
  std::visit(
      [&](const auto& r) {
        r.fields(r, [&]<class Field>(std::string_view field, const Field& value, scaling::Presence, scaling::Range) {
          if constexpr (std::is_same_v<Field, bool> || std::is_enum_v<Field>) {
            look(field, static_cast<std::int32_t>(value));
          }
        });
      },
      rule);
  return unclaimed;
}

Scaling as_called(const Scaling& rule, int rotary_dim) { return to_scaling(rope::to_c(rule), rotary_dim); }

}  // namespace

std::string unclaimed_choice(const Scaling& rule, const rope_capabilities& claims) {
  const std::vector<std::string> unclaimed = unclaimed_choices(rule, claims);
  return unclaimed.empty() ? "" : unclaimed.front();
}

std::vector<std::string> claimed_choices(const rope_capabilities& claims) {
  std::vector<std::string> only;
  for (const ScalingMode& mode : scaling_modes) {
    const std::uint32_t values = claims.*mode.claimed;
    if (values == ROPE_BIT(0) || values == ROPE_BIT(1)) only.push_back(fmt::format("{} {}", mode.name, values >> 1));
  }
  return only;
}

Scaling with_claimed_choices(const Scaling& rule, const rope_capabilities& claims) {
  Scaling result = rule;
  for (std::size_t left = unclaimed_choices(result, claims).size(); left > 0; --left) {
    const std::vector<Scaling> others = with_other_choices(result);
    const auto better = std::ranges::find_if(
        others, [&](const Scaling& other) { return unclaimed_choices(other, claims).size() < left; });
    if (better == others.end()) return rule;
    result = *better;
  }
  if (claims.own_attention_factor == 0 || !lists_of(result).empty()) return result;
  return as_called(result, 0);
}

double own_attention_factor(const Scaling& rule, const scaling::Setting& setting) {
  return attention_factor<double>(as_called(rule, setting.rotary_dim), setting);
}

}  // namespace rope
