#include "tools/certify/ways.hpp"

#include <algorithm>
#include <cstdlib>

#include "tools/judge/case/coverage.hpp"

namespace rope::certify {
namespace {

constexpr double trained_length = 4096;
constexpr const char* accuracy_requirement = "ROT-01";  // what `ropecheck replay` asks of a failing case

std::vector<DType> dtypes_of(const Selection& selection) {
  if (!selection.dtypes.empty()) return selection.dtypes;
  return {DType::f32, DType::bf16, DType::f16, DType::f64};
}

std::vector<Pairing> pairings_of(const Selection& selection) {
  if (selection.pairing) return {*selection.pairing};
  return {Pairing::half_split, Pairing::interleaved};
}

// Takes the first of the types with which the claims cover the case.
bool give_type(Case& c, DType Case::*field, std::vector<DType> types, const Claims& claims) {
  return std::ranges::any_of(types, [&](DType type) {
    c.*field = type;
    return claimed(c, claims).has_value();
  });
}

bool give_types(Case& c, const Claims& claims) {
  const DType working = working_type(c.dtype);
  std::vector<DType> outputs{c.dtype, working, DType::f32, DType::f64, DType::bf16, DType::f16};
  std::vector<DType> given{working, DType::f32, DType::f64};
  if (c.source == AngleSource::tables) given.insert(given.end(), {c.dtype, DType::bf16, DType::f16});
  return std::ranges::any_of(outputs, [&](DType out) {
    c.out_dtype = out;
    return give_type(c, &Case::given, given, claims);
  });
}

// The case with a rule, if the claims cover it; without the rule's attention factor, if that is not claimed.
bool give_rule(Case& c, const scaling::Example<Scaling>& example, const Claims& claims) {
  c.spec.scaling = example.rule;
  c.spec.base = example.base;
  keep_spec_to_claims(c, claims);
  if (claimed(c, claims)) return true;
  c.spec.attention_factor = 1;
  return claimed(c, claims).has_value();
}

void add_rules(Case c, const Request& request, const Selection& selection, std::vector<Case>& result) {
  const scaling::Setting setting{c.spec.head_dim, c.spec.rotary_dim, c.spec.base, 0};
  std::vector<scaling::Example<Scaling>> examples{{scaling::None{}, c.spec.base}};
  for (const auto& example : example_rules(setting, trained_length)) {
    if (example.rule.index() != examples.back().rule.index()) examples.push_back(example);
  }
  for (const auto& example : examples) {
    Case with_rule = c;
    if (!give_rule(with_rule, example, request.claims)) continue;
    if (selection.base && with_rule.spec.base != *selection.base) continue;
    result.push_back(with_rule);
  }
}

}  // namespace

int claimed_head_dim(const Claims& claims, int wanted) {
  int best = claims.head_dims.empty() ? wanted : 0;
  for (const std::int32_t dim : claims.head_dims) {
    if (dim % 2 == 0 && (best == 0 || std::abs(dim - wanted) < std::abs(best - wanted))) best = dim;
  }
  return best == 0 ? claims.head_dims.front() : best;
}

bool has_any(const Sweep& sweep, const Claims& claims) {
  for (std::int64_t block = 0; block < sweep.blocks(); ++block) {
    for (const Part& part : kind_called(sweep.kind).parts(sweep, sweep.range(block))) {
      if (claimed(part.c, claims)) return true;
    }
  }
  return false;
}

std::int64_t claimed_elements(const Sweep& sweep, const Claims& claims) {
  std::int64_t elements = 0;
  for (std::int64_t block = 0; block < sweep.blocks(); ++block) {
    for (const Part& part : kind_called(sweep.kind).parts(sweep, sweep.range(block))) {
      if (claimed(part.c, claims)) elements += part.elements;
    }
  }
  return elements;
}

std::vector<Case> ways(const Request& request, const Selection& selection, int head_dim) {
  const Claims& claims = request.claims;
  Case c;
  c.requirement = accuracy_requirement;
  c.seq = c.heads = 1;
  c.seed = selection.seed;
  c.spec.head_dim = claimed_head_dim(claims, head_dim);
  c.spec.rotary_dim = c.spec.head_dim / 2 * 2;
  c.spec.base = selection.base.value_or(c.spec.base);
  if (selection.spec) c.spec = *selection.spec;
  std::vector<Case> result;
  for (const DType dtype : dtypes_of(selection)) {
    for (const AngleSource source : {AngleSource::computed, AngleSource::frequencies, AngleSource::tables}) {
      for (const Pairing pairing : pairings_of(selection)) {
        Case way = c;
        way.dtype = dtype;
        way.source = source;
        way.spec.pairing = pairing;
        way.full_tables = source == AngleSource::tables && claims.capabilities.half_tables == 0;
        if (source == AngleSource::computed && !selection.spec) {
          way.out_dtype = dtype;
          if ((claims.capabilities.out_dtypes[static_cast<std::size_t>(dtype)] >> static_cast<int>(dtype) & 1u) == 0) {
            way.out_dtype = working_type(dtype);
          }
          add_rules(way, request, selection, result);
          continue;
        }
        keep_to_claims(way, claims);
        if (give_types(way, claims)) result.push_back(way);
      }
    }
  }
  return result;
}

}  // namespace rope::certify
