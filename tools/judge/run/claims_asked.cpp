#include "tools/judge/run/claims_asked.hpp"

#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/every_call.hpp"

namespace rope {
namespace {

template <class Enum>
unsigned bit_of(Enum value) {
  return 1u << static_cast<unsigned>(value);
}

void sort_in(ClaimsAsked& kind, std::string_view word, bool claimed, bool asked) {
  (asked ? kind.asked : claimed ? kind.not_asked : kind.not_claimed).emplace_back(word);
}

}  // namespace

void ClaimsSeen::add(std::span<const Case> executed) {
  for (const Case& c : executed) {
    dtypes_ |= bit_of(c.dtype);
    sources_ |= bit_of(c.source);
    pairings_ |= bit_of(c.spec.pairing);
    if (c.source == AngleSource::computed) rules_ |= bit_of(c.spec.scaling.index());
    if (c.fault != Fault::none) features_ |= bit_of(ROPE_FEATURE_ROBUST);
    head_dims_.insert(c.spec.head_dim);
    for (const FeatureNeed& need : feature_needs()) {
      if ((features_ & bit_of(need.feature)) == 0 && need.needed(c)) features_ |= bit_of(need.feature);
    }
  }
}

void ClaimsSeen::add(const ClaimsSeen& other) {
  dtypes_ |= other.dtypes_;
  sources_ |= other.sources_;
  pairings_ |= other.pairings_;
  rules_ |= other.rules_;
  features_ |= other.features_;
  head_dims_.insert(other.head_dims_.begin(), other.head_dims_.end());
}

std::vector<ClaimsAsked> ClaimsSeen::of(const Claims& claims) const {
  const rope_capabilities& k = claims.capabilities;
  ClaimsAsked dtypes{"dtypes", {}, {}, {}}, sources{"angles from", {}, {}, {}}, pairings{"pairings", {}, {}, {}},
      rules{"scaling rules", {}, {}, {}}, features{"features", {}, {}, {}};
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    sort_in(dtypes, name(dtype), k.out_dtypes[static_cast<std::size_t>(dtype)] != 0, (dtypes_ & bit_of(dtype)) != 0);
  }
  for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    sort_in(sources, name(source), (k.angle_sources & bit_of(source)) != 0, (sources_ & bit_of(source)) != 0);
  }
  for (const Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
    sort_in(pairings, name(pairing), (k.pairings & bit_of(pairing)) != 0, (pairings_ & bit_of(pairing)) != 0);
  }
  const bool computes = (k.angle_sources & bit_of(AngleSource::computed)) != 0;
  for (std::size_t rule = 0; rule < scaling_kind_count; ++rule) {
    sort_in(rules, scaling_kinds[rule], computes && (k.scalings & bit_of(rule)) != 0, (rules_ & bit_of(rule)) != 0);
  }
  for (const FeatureNeed& need : feature_needs()) {
    sort_in(features, need.what, claims.has(need.feature), (features_ & bit_of(need.feature)) != 0);
  }
  sort_in(features, "wrong calls are refused", claims.has(ROPE_FEATURE_ROBUST),
          (features_ & bit_of(ROPE_FEATURE_ROBUST)) != 0);
  std::vector<ClaimsAsked> all = {dtypes, sources, pairings, rules, features};
  const std::vector<std::string> every_call = words_of_every_call(claims);
  if (!every_call.empty()) all.push_back({"every call has", every_call, {}, {}});
  if (claims.head_dims.empty()) return all;
  ClaimsAsked& head_dims = all.emplace_back(ClaimsAsked{"head_dims", {}, {}, {}});
  for (const std::int32_t dim : claims.head_dims) {
    sort_in(head_dims, std::to_string(dim), true, head_dims_.contains(dim));
  }
  return all;
}

}  // namespace rope
