#include "tools/judge/case/missing_claim.hpp"

#include <algorithm>

#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

bool has(std::uint32_t mask, int bit) { return (mask >> bit & 1u) != 0; }

// How much of the way in which the angles and x come is claimed. Of the ways that are not covered, the one with the
// most tells what else is missing.
int claimed_part(const Case& c, const rope_capabilities& claims) {
  const bool type = claims.out_dtypes[static_cast<std::size_t>(c.dtype)] != 0;
  const bool source = has(claims.angle_sources, static_cast<int>(c.source));
  const std::uint32_t given = c.source == AngleSource::tables        ? claims.table_dtypes
                              : c.source == AngleSource::frequencies ? claims.theta_dtypes
                                                                     : ~0u;
  const bool width = c.source != AngleSource::tables || (c.full_tables ? claims.full_tables : claims.half_tables) != 0;
  return type + source + has(given, static_cast<int>(c.given)) + width;
}

// A call without any feature, in each type and from each kind of angles.
std::vector<Case> plain_calls(const Claims& claims, const Selection& selection) {
  Case c;
  c.seq = 1;
  if (!claims.head_dims.empty()) {
    c.spec.head_dim = claims.head_dims.front();
    c.spec.rotary_dim = c.spec.head_dim / 2 * 2;
  }
  if (selection.spec) c.spec = *selection.spec;
  std::vector<Case> calls;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    if (!selection.dtypes.empty() && std::ranges::find(selection.dtypes, dtype) == selection.dtypes.end()) continue;
    c.dtype = c.out_dtype = dtype;
    for (const DType out : {DType::f16, DType::bf16, DType::f32, DType::f64, dtype}) {
      if (has(claims.capabilities.out_dtypes[static_cast<std::size_t>(dtype)], static_cast<int>(out))) c.out_dtype = out;
    }
    for (const Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
      if (selection.pairing.value_or(pairing) != pairing) continue;
      c.spec.pairing = pairing;
      for (const AngleSource source : {AngleSource::computed, AngleSource::frequencies, AngleSource::tables}) {
        for (const DType given : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
          for (const bool full : {false, true}) {
            c.source = source;
            c.given = given;
            c.full_tables = full;
            Case& call = calls.emplace_back(c);
            if (!selection.spec) keep_spec_to_claims(call, claims);
            keep_call_to_claims(call, claims);
          }
        }
      }
    }
  }
  return calls;
}

}  // namespace

std::string missing_claim(const Claims& claims, const Selection& selection) {
  Claims with_any_rule = claims;  // without a spec the rule is chosen by the claims
  if (!selection.spec) with_any_rule.capabilities.scalings |= ROPE_BIT(ROPE_SCALING_NONE);
  std::string missing;
  int most = -1;
  for (const Case& c : plain_calls(claims, selection)) {
    const std::string why = uncovered(c, with_any_rule);
    if (why.empty()) return "";
    const int part = claimed_part(c, claims.capabilities);
    if (part > most) missing = why;
    most = std::max(most, part);
  }
  return missing;
}

}  // namespace rope
