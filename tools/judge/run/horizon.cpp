#include "tools/judge/run/horizon.hpp"

#include <algorithm>
#include <cmath>

#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

constexpr int tokens = 64;  // distances 0 .. 63

// Scores of the last token's query with every token's key, relative to the norms. The query is head 0, the key head 1.
std::vector<double> relative_scores(const Trial& trial) {
  const Tensor& y = trial.call.q_result();
  const auto norm = [&](std::int64_t head) {
    double sum = 0;
    for (std::int64_t j = 0; j < trial.q.shape[3]; ++j) sum += std::pow(value_at(trial.q, {0, 0, head}, j), 2);
    return std::sqrt(sum);
  };
  const double scale = norm(0) * norm(1);
  std::vector<double> scores;
  for (std::int64_t s = 0; s < y.shape[1]; ++s) {
    double sum = 0;
    for (std::int64_t j = 0; j < y.shape[3]; ++j) {
      sum += value_at(y, {0, y.shape[1] - 1, 0}, j) * value_at(y, {0, s, 1}, j);
    }
    scores.push_back(sum / scale);
  }
  return scores;
}

Case at(Case c, std::int64_t position) {
  c.start = position - (tokens - 1);
  return c;
}

std::optional<Horizon> measure(const Case& probe, std::int64_t last, Examiner& examiner) {
  const Claims& claims = examiner.subject().claims();
  Horizon horizon{probe.dtype, probe.source, horizon_tolerance(probe.dtype), -1, 0, 0, {}};
  if (last < tokens - 1) return std::nullopt;
  const std::optional<Case> nearest = claimed(at(probe, tokens - 1), claims);
  if (!nearest) return std::nullopt;
  const Trial start = examiner.run(*nearest);
  if (!start.ok()) return horizon;
  const std::vector<double> first = relative_scores(start);
  std::vector<std::int64_t> ends;
  for (std::int64_t end = 2 * tokens; end < last; end *= 2) ends.push_back(end);
  ends.push_back(last);
  for (std::int64_t end : ends) {
    const std::optional<Case> c = claimed(at(probe, end), claims);
    if (!c) continue;
    horizon.tried = end;
    const Trial there = examiner.run(*c);
    if (!there.ok()) return horizon;
    const std::vector<double> scores = relative_scores(there);
    double deviation = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double d = std::fabs(scores[i] - first[i]);
      deviation = std::isnan(d) ? INFINITY : std::max(deviation, d);
    }
    horizon.curve.push_back({end, deviation});
    if (deviation > horizon.tolerance) return horizon;
    horizon.position = end;
    horizon.worst = std::max(horizon.worst, deviation);
  }
  return horizon;
}

}  // namespace

double horizon_tolerance(DType dtype) {
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16;
  return std::max(1e-3, narrow ? 4 * unit_roundoff(dtype) : 0);
}

std::int64_t last_measured(const Claims& claims, const Selection& selection) {
  const std::int64_t last = std::min(claims.capabilities.max_position, farthest_measured);
  return selection.most_tokens ? std::min(last, *selection.most_tokens - 1) : last;
}

std::vector<Horizon> measure_horizons(Examiner& examiner, const Selection& selection) {
  std::vector<Horizon> horizons;
  // The list makes the ways to call that claims and selection allow; any one with long rows of pairs will do.
  CaseList list("", examiner.subject().claims(), selection, nullptr);
  const std::int64_t last = last_measured(list.claims(), selection);
  std::vector<Case> probes;
  list.for_each_variant(128, [&](Case c) {
    const bool seen = std::any_of(probes.begin(), probes.end(), [&](const Case& p) { return p.dtype == c.dtype; });
    if (seen || c.source == AngleSource::tables || !list.representative().is_output_type_of(c)) return;
    c.spec = selection.spec_for(c.spec);
    c.batch = 1;
    c.seq = tokens;
    c.heads = 2;
    c.input = InputKind::constant;
    c.spec.axes = {};
    // Rules that follow the length must not see the sequence grow.
    c.sequence_length = last + 1;
    if (!list.claims().has(ROPE_FEATURE_OFFSET)) c.form = PositionForm::shared;
    if (c.form == PositionForm::shared) c.position_dtype = list.claims().position_dtype();
    probes.push_back(c);
  });
  for (const Case& probe : probes) {
    if (const std::optional<Horizon> horizon = measure(probe, last, examiner)) horizons.push_back(*horizon);
  }
  return horizons;
}

}  // namespace rope
