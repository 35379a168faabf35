#include "tools/judge/run/golden_agreement.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/input_error.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/golden_call.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/judge.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

// The case as in the manifest: a case that was typed in may contradict the arrays.
Case settled(const Case& asked, const Manifest* manifest) {
  if (manifest == nullptr) throw InputError("there are no golden files; set ROPECHECK_GOLDEN to their folder");
  const GoldenCase* golden = manifest->find(asked.golden);
  if (golden == nullptr) {
    throw InputError("golden case \"" + asked.golden +
                     "\" is not in the manifest; `ropecheck list goldens` lists them");
  }
  std::optional<Case> c = case_of_golden(*golden, asked.source);
  if (!c) throw InputError("golden case \"" + asked.golden + "\" has no arrays for this angle source");
  if (asked.key_heads == 0) c->key_heads = 0;
  if (!asked.full_tables) c->full_tables = false;
  c->in_place = asked.in_place;
  if (asked.form == PositionForm::shared) c->form = asked.form;
  return *c;
}

// By how much C of the source's own frequencies exceeds the C of a kernel that computes them directly, per pair. 0 if
// the kernel is given them. A source that makes theta by exp sets no standard for kernels that make it by a power.
std::vector<double> excess_of_source(const Case& c, Examiner& examiner) {
  std::vector<double> excess(static_cast<std::size_t>(c.spec.rotary_dim / 2), 0.0);
  const GoldenCase& golden = *examiner.golden()->find(c.golden);
  const GoldenArray* array = golden.find("theta");
  if (c.source != AngleSource::computed || array == nullptr) return excess;
  const NpyArray theta = load(*examiner.golden(), golden, *array);
  const RotationPlan& plan = examiner.oracles().of(c.spec, golden.sequence_length).plan();
  const std::vector<double> direct = direct_constants(c.spec, golden.sequence_length);
  for (std::size_t p = 0; p < excess.size(); ++p) {
    const double exact = plan.pairs[p].theta.to_double();
    if (exact == 0) continue;
    const double given = load(array->dtype, theta.bytes.data() + p * size_of(array->dtype)) / golden.position_divisor;
    excess[p] = std::max(0.0, std::fabs(given / exact - 1) / unit_roundoff(DType::f32) - direct[p]);
  }
  return excess;
}

// Source and kernel are each within their bound of the exact value, so they are within the bounds' sum of each other.
// If the source's own frequencies are off, more is allowed. A grade is required only of the kernel; the source's is C3.
void compare(Finding& finding, const char* name, const Trial& trial, const Tensor& input, const Tensor& output,
             const GoldenOutput& golden, const std::vector<double>& excess, Expectation& expected,
             Expectation& of_source) {
  for_each_row(input, [&](const RowIndex& row, const std::byte*) {
    const RelatedRow y = related_row(trial, input, output, row, expected);
    const RelatedRow source = related_row(trial, input, output, row, of_source);
    const std::vector<PairAngle>& angles = expected.angles(row.batch, row.seq);
    for (std::size_t p = 0; p < expected.pairs(); ++p) {
      if (y.lost[p]) continue;
      const double further = excess[p] * unit_roundoff(DType::f32) * std::fabs(angles[p].phi) * y.pair_norm[p];
      for (int feature : {expected.first(p), expected.second(p)}) {
        const auto j = static_cast<std::size_t>(feature);
        const double value = value_at(golden.value, row, feature);
        const double printed = golden.print ? golden.print->half_unit(value) : 0;
        relate(finding, name, row, feature, p, value, y.value[j],
               y.pair_bound[p] + source.pair_bound[p] + further + printed);
        if (std::bit_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(y.value[j]))
          ++finding.source_mismatches;
      }
    }
  });
}

}  // namespace

std::optional<Case> golden_case(const GoldenCase& golden, AngleSource source, const Claims& claims) {
  if (!golden.conforms) return std::nullopt;  // deviating cases are kept as negative controls
  std::optional<Case> c = case_of_golden(golden, source);
  if (!c) return std::nullopt;
  // Every source repeats its columns for both features of a pair, so a kernel for half-width tables gets one of them.
  if (c->full_tables && claims.capabilities.full_tables == 0) c->full_tables = false;
  if (claims.always(ROPE_FEATURE_IN_PLACE)) c->in_place = true;
  if (claims.always(ROPE_FEATURE_POSITIONS) && c->form == PositionForm::offset) c->form = PositionForm::shared;
  // Kernels without k, or without a different number of heads, are judged only on q.
  if (!uncovered(*c, claims).empty()) c->key_heads = 0;
  return c;
}

Finding golden_agreement(const Case& asked, Examiner& examiner) {
  const Case c = settled(asked, examiner.golden());
  GoldenCall golden = build_golden_call(c, *examiner.golden());
  const Trial trial = examiner.run(std::move(golden.call));
  if (!trial.ok()) return trial.problem;
  Expectation expected = examiner.expectation(c, trial.call);
  Expectation of_source(trial.call, c.spec, examiner.oracles());
  Finding finding = judge_call(trial.call, trial.q, trial.k, expected);
  Finding agreement;
  const std::vector<double> excess = excess_of_source(c, examiner);
  compare(agreement, "q", trial, trial.q, trial.call.q_result(), golden.q, excess, expected, of_source);
  if (golden.k) compare(agreement, "k", trial, *trial.k, trial.call.k_result(), *golden.k, excess, expected, of_source);
  if (finding.passed()) {
    finding.merge(told(agreement, "results", "the kernel's result", "the result of the source"));
  } else {
    finding.source_mismatches = agreement.source_mismatches;  // an exact value says more than the source's
  }
  return finding;
}

}  // namespace rope
