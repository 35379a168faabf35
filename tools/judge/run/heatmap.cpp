#include "tools/judge/run/heatmap.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tools/judge/case/coverage.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/run/horizon.hpp"

namespace rope {
namespace {

constexpr int tokens_of_map = 192;            // four to five in each of 42 columns
constexpr std::int64_t longest_heat_table = 4096;  // rows; longer ones take more time than they tell
constexpr std::int64_t last_of_i32 = 0x7fffffff;

// Column 0 is position 0, column k the positions 2^(k-1) .. 2^k - 1.
std::size_t column_of(std::int64_t position) {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(position)));
}

std::int64_t first_of(std::size_t column) { return column == 0 ? 0 : std::int64_t{1} << (column - 1); }

class Map {
 public:
  Map(Case probe, std::int64_t last, Examiner& examiner) : probe_(std::move(probe)), last_(last), examiner_(examiner) {
    map_.dtype = probe_.dtype;
    map_.source = probe_.source;
    for (std::size_t c = 0; c <= column_of(last); ++c) map_.positions.push_back(first_of(c));
    map_.use.assign(static_cast<std::size_t>(probe_.spec.rotary_dim / 2),
                    std::vector<std::optional<double>>(map_.positions.size()));
  }

  Heatmap filled(std::int64_t most_calls) {
    call_at_many();
    // Columns that chance has left empty, or all if the kernel takes no positions. The last one is never left out.
    std::vector<std::size_t> empty;
    for (std::size_t c = map_.positions.size(); c-- > 0;) {
      if (!map_.use[0][c]) empty.push_back(c);
    }
    const std::int64_t left = std::max<std::int64_t>(most_calls - map_.calls, 1);
    const auto step = static_cast<std::size_t>((std::ssize(empty) + left - 1) / left);
    for (std::size_t i = 0; i < empty.size() && map_.problem.empty(); i += step) {
      if (!map_.use[0][empty[i]]) call_at(map_.positions[empty[i]]);
    }
    const std::vector<MeasuredGrade> grades = uses_.measured({});
    map_.grade = grades.empty() ? MeasuredGrade{probe_.dtype, "", 0} : grades.front();
    return map_;
  }

 private:
  // One call with tokens at positions of every order of magnitude.
  void call_at_many() {
    Case c = probe_;
    c.seq = tokens_of_map;
    c.form = PositionForm::shared;
    c.position_dtype = examiner_.subject().claims().position_dtype();
    c.pattern = PositionPattern::scattered;
    c.start = last_;
    if (const auto kept = claimed(c, examiner_.subject().claims())) add(*kept);
  }

  void call_at(std::int64_t position) {
    Case c = probe_;
    c.seq = static_cast<int>(std::min<std::int64_t>(4, std::max<std::int64_t>(1, last_ - position + 1)));
    c.start = position;
    if (const auto kept = claimed(c, examiner_.subject().claims())) add(*kept);
  }

  void add(const Case& c) {
    if (map_.call.empty()) map_.call = to_text(c);
    ++map_.calls;
    const Trial trial = examiner_.run(c);
    if (!trial.ok()) {
      map_.problem = headline(explain(trial.problem));
      return;
    }
    uses_.add(c.dtype, examiner_.judge(c, trial));
    Expectation expectation = examiner_.expectation(c, trial.call);
    const Tensor& y = trial.call.q_result();
    for (std::int64_t s = 0; s < trial.q.shape[1]; ++s) {
      const std::vector<PairAngle>& angles = expectation.angles(0, s);
      for (std::size_t p = 0; p < angles.size(); ++p) add(p, s, angles[p], trial.q, y, expectation);
    }
  }

  void add(std::size_t p, std::int64_t s, const PairAngle& angle, const Tensor& x, const Tensor& y,
           Expectation& expectation) {
    const std::size_t column = column_of(expectation.position(p));
    if (column >= map_.positions.size()) return;
    const double a = value_at(x, {0, s, 0}, expectation.first(p)), b = value_at(x, {0, s, 0}, expectation.second(p));
    const ExactPair exact = rotate_exact(a, b, angle, expectation.lambda(), expectation.backward());
    const double bound = expectation.bound(p, angle.phi, expectation.reach(a, b, p));
    note(p, column, written_at(y, {0, s, 0}, expectation.first(p)), exact.first, bound);
    note(p, column, written_at(y, {0, s, 0}, expectation.second(p)), exact.second, bound);
  }

  // A NaN stays: it is beyond every bound. So is what was not written.
  void note(std::size_t p, std::size_t column, double actual, const DoubleDouble& exact, double bound) {
    const double error = std::fabs((actual - exact.hi) - exact.lo);
    const double share = error == 0 ? 0 : error / bound;
    std::optional<double>& worst = map_.use[p][column];
    if (!worst || !(share <= *worst)) worst = std::isnan(worst.value_or(0)) ? *worst : share;
  }

  Case probe_;
  std::int64_t last_;
  Examiner& examiner_;
  Heatmap map_;
  GradeUse uses_;
};

// Computed angles say most, given tables least.
int rank_of(AngleSource source) {
  return source == AngleSource::computed ? 0 : source == AngleSource::frequencies ? 1 : 2;
}

std::int64_t last_position(const Case& probe, const Claims& claims, const Selection& selection) {
  std::int64_t last = last_measured(claims, selection);
  if (probe.source == AngleSource::tables) last = std::min(last, longest_heat_table - 1);
  if (claims.has(ROPE_FEATURE_POSITIONS) && claims.position_dtype() == DType::i32) last = std::min(last, last_of_i32);
  if (!claims.has(ROPE_FEATURE_POSITIONS) && !claims.has(ROPE_FEATURE_OFFSET)) last = std::min(last, std::int64_t{3});
  return last;
}

}  // namespace

std::vector<Heatmap> measure_heatmaps(Examiner& examiner, const Selection& selection, std::int64_t most_calls) {
  const Claims& claims = examiner.subject().claims();
  CaseList list("", claims, selection, nullptr);
  std::vector<Case> probes;
  list.for_each_variant(64, [&](Case c) {
    if (!list.representative().is_output_type_of(c)) return;
    c.spec = selection.spec_for(c.spec);
    c.batch = c.heads = 1;
    c.input = InputKind::spread;
    const auto known = std::ranges::find(probes, c.dtype, &Case::dtype);
    if (known == probes.end()) {
      probes.push_back(c);
    } else if (rank_of(c.source) < rank_of(known->source)) {
      *known = c;
    }
  });
  std::ranges::sort(probes, {}, &Case::dtype);
  constexpr std::int64_t fewest_calls = 4;
  const std::int64_t calls_of_each = std::max(most_calls / std::max<std::int64_t>(std::ssize(probes), 1), fewest_calls);
  std::vector<Heatmap> maps;
  for (Case& probe : probes) {
    const std::int64_t last = last_position(probe, claims, selection);
    probe.sequence_length = last + 1;  // rules that follow the length see one
    maps.push_back(Map(probe, last, examiner).filled(calls_of_each));
  }
  return maps;
}

}  // namespace rope
