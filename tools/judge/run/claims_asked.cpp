#include "tools/judge/run/claims_asked.hpp"

#include "tools/judge/case/coverage.hpp"

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
    for (const FeatureNeed& need : feature_needs()) {
      if ((features_ & bit_of(need.feature)) == 0 && need.needed(c)) features_ |= bit_of(need.feature);
    }
  }
}

std::vector<ClaimsAsked> ClaimsSeen::of(const Claims& claims) const {
  const rope_capabilities& k = claims.capabilities;
  ClaimsAsked dtypes{"dtypes", {}, {}, {}}, sources{"angles from", {}, {}, {}}, pairings{"pairings", {}, {}, {}},
      features{"features", {}, {}, {}};
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    sort_in(dtypes, name(dtype), k.out_dtypes[static_cast<std::size_t>(dtype)] != 0, (dtypes_ & bit_of(dtype)) != 0);
  }
  for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    sort_in(sources, name(source), (k.angle_sources & bit_of(source)) != 0, (sources_ & bit_of(source)) != 0);
  }
  for (const Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
    sort_in(pairings, name(pairing), (k.pairings & bit_of(pairing)) != 0, (pairings_ & bit_of(pairing)) != 0);
  }
  for (const FeatureNeed& need : feature_needs()) {
    sort_in(features, need.what, claims.has(need.feature), (features_ & bit_of(need.feature)) != 0);
  }
  return {dtypes, sources, pairings, features};
}

}  // namespace rope
