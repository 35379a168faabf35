#include "tools/judge/case/single_claims.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

using MaskField = std::uint32_t rope_capabilities::*;

constexpr DType float_types[] = {DType::f32, DType::bf16, DType::f16, DType::f64};

// Without the last bit of these, the claims would mean nothing. Features can all be missing.
constexpr MaskField needed_masks[] = {&rope_capabilities::table_dtypes,    &rope_capabilities::theta_dtypes,
                            &rope_capabilities::position_dtypes, &rope_capabilities::pairings,
                            &rope_capabilities::angle_sources,   &rope_capabilities::scalings};

template <class Enum>
std::uint32_t claim_bit(Enum value) {
  return ROPE_BIT(static_cast<unsigned>(value));
}

SingleClaim in_mask(std::string words, MaskField field, std::uint32_t bit) {
  return {std::move(words), [=](const Claims& claims) { return (claims.capabilities.*field & bit) != 0; },
          [=](Claims& claims, bool made) {
            std::uint32_t& mask = claims.capabilities.*field;
            mask = made ? mask | bit : mask & ~bit;
          }};
}

// The kind of tables or theta that a source comes with, if the claims have none of it yet.
void give_types(rope_capabilities& k, AngleSource source) {
  if (source == AngleSource::tables && k.table_dtypes == 0) k.table_dtypes = claim_bit(DType::f32);
  if (source == AngleSource::tables && k.half_tables + k.full_tables == 0) k.half_tables = 1;
  if (source == AngleSource::frequencies && k.theta_dtypes == 0) k.theta_dtypes = claim_bit(DType::f32);
  if (source == AngleSource::computed && k.scalings == 0) k.scalings = ROPE_BIT(ROPE_SCALING_NONE);
}

}  // namespace

std::vector<SingleClaim> single_claims() {
  using K = rope_capabilities;
  std::vector<SingleClaim> all;
  for (const FeatureNeed& need : feature_needs()) all.push_back(in_mask(need.what, &K::features, claim_bit(need.feature)));
  all.push_back(in_mask("refusing wrong calls", &K::features, claim_bit(ROPE_FEATURE_ROBUST)));
  // Before the single outputs: without its last output, an input is not claimed.
  for (const DType input : float_types) {
    const auto at = static_cast<std::size_t>(input);
    all.push_back({fmt::format("{} input", name(input)),
                   [=](const Claims& claims) { return claims.capabilities.out_dtypes[at] != 0; },
                   [=](Claims& claims, bool made) { claims.capabilities.out_dtypes[at] = made ? claim_bit(input) : 0; }});
  }
  for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    SingleClaim& one = all.emplace_back(
        in_mask(fmt::format("angle source {}", name(source)), &K::angle_sources, claim_bit(source)));
    one.make = [=, make = one.make](Claims& claims, bool made) {
      make(claims, made);
      if (made) give_types(claims.capabilities, source);
    };
  }
  for (const DType dtype : float_types) {
    all.push_back(in_mask(fmt::format("{} tables", name(dtype)), &K::table_dtypes, claim_bit(dtype)));
    all.push_back(in_mask(fmt::format("{} frequencies", name(dtype)), &K::theta_dtypes, claim_bit(dtype)));
  }
  for (const DType dtype : {DType::i32, DType::i64}) {
    all.push_back(in_mask(fmt::format("{} positions", name(dtype)), &K::position_dtypes, claim_bit(dtype)));
  }
  for (const Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
    all.push_back(in_mask(std::string(name(pairing)), &K::pairings, claim_bit(pairing)));
  }
  for (std::size_t rule = 0; rule < scaling_kind_count; ++rule) {
    all.push_back(in_mask(fmt::format("scaling {}", scaling_kinds[rule]), &K::scalings, claim_bit(rule)));
  }
  all.push_back(in_mask("half-width tables", &K::half_tables, 1));
  all.push_back(in_mask("full-width tables", &K::full_tables, 1));
  for (const DType input : float_types) {
    for (const DType output : float_types) {
      const auto at = static_cast<std::size_t>(input);
      all.push_back({fmt::format("{} output for {} input", name(output), name(input)),
                     [=](const Claims& claims) { return (claims.capabilities.out_dtypes[at] & claim_bit(output)) != 0; },
                     [=](Claims& claims, bool made) {
                       std::uint32_t& mask = claims.capabilities.out_dtypes[at];
                       mask = made ? mask | claim_bit(output) : mask & ~claim_bit(output);
                     }});
    }
  }
  return all;
}

bool keeps_meaning(const rope_capabilities& before, const rope_capabilities& after) {
  const auto is_lost = [&](MaskField field) { return before.*field != 0 && after.*field == 0; };
  const bool has_width = after.half_tables + after.full_tables > 0 || before.half_tables + before.full_tables == 0;
  return has_width && std::ranges::none_of(needed_masks, is_lost);
}

}  // namespace rope
