#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reference/rotation_plan.hpp"
#include "tools/identify/axes_seen.hpp"
#include "tools/identify/executed_plan.hpp"
#include "tools/identify/other_lengths.hpp"
#include "tools/identify/pairing_seen.hpp"
#include "tools/identify/phase_probe.hpp"
#include "tools/identify/position_rule.hpp"
#include "tools/identify/prediction.hpp"
#include "tools/identify/rounding_of.hpp"
#include "tools/identify/sign_and_lambda.hpp"

namespace rope {
namespace {

// Relative errors of a kernel's own angles. Computed in f64, f32 (grade C, error_model.md: C up to 18), f16 or bf16. In
// between: for angles in f64 that are large because theta is.
// And relative errors of theta itself, if the angles are better than that. In f64 (2 + 2 ln(base)) 2^-53 is below 2^-46
// for every base below 2^90. If f64 is rounded once to f32: 2^-24. Arithmetic in f32: as above.
constexpr double theta_levels[] = {0x1p-46, 0x1p-23, of_float, 0x1p-10, 0x1p-7};
constexpr double angle_levels[] = {0x1p-49, 0x1p-40, 0x1p-30, of_float, 0x1p-10, 0x1p-7};

class Identification {
 public:
  Identification(Subject& subject, const Case& way, Oracles& oracles)
      : examiner_(subject, oracles, nullptr), prober_(examiner_, way) {
    plan_.way = prober_.way();
  }

  ExecutedPlan plan() {
    try {
      measure();
    } catch (const ProbeError& error) {
      plan_.problem = error.what();
    }
    plan_.calls = prober_.calls();
    plan_.rows = prober_.rows_asked();
    return std::move(plan_);
  }

 private:
  const RopeSpec& told() const { return plan_.way.spec; }
  bool has_tables() const { return plan_.way.source == AngleSource::tables; }

  void measure() {
    plan_.sequence_length = prober_.sequence_length();
    plan_.structure = measure_structure(prober_);
    plan_.told_lambda = prober_.attention_factor();
    complete_pairs(plan_.structure, told());
    const PairingSeen seen = pairing_of(plan_.structure, told(), prober_.sequence_length());
    plan_.pairing = seen.pairing;
    plan_.rotary_dim = seen.rotary_dim;
    if (plan_.structure.pairs.empty()) return;
    measure_phases();
    if (plan_.angle_error == 0 && prober_.separate_axes()) look_at_one_token();
    if (has_tables()) {
      plan_.tables = measure_table_use(prober_, plan_.structure, table_positions());
    } else {
      const std::vector<int> axes = axis_of_each_pair(prober_, plan_.structure.pairs, noise_);
      for (std::size_t p = 0; p < axes.size(); ++p) plan_.pairs[p].axis = axes[p];
      find_rules();
    }
    const Predicted predicted = predict_random_rows(prober_, plan_, noise_);
    plan_.predicted = predicted.elements;
    plan_.predicted_right = predicted.right;
    find_spec();
  }

  std::vector<std::int64_t> table_positions() const {
    std::vector<std::int64_t> positions;
    for (const std::int64_t m : {0, 1, 2, 5, 100, 257, 2049, 4095}) {
      if (m <= prober_.largest_position()) positions.push_back(m);
    }
    return positions;
  }

  void measure_phases() {
    positions_ = phase_positions(prober_.largest_position(), prober_.separate_axes() || prober_.any_position());
    std::vector<Prober::Position> asked;
    for (const std::int64_t m : positions_) asked.push_back(prober_.on_all_axes(m));
    const std::vector<PairSeries> series = ask_phases(prober_, plan_.structure.pairs, asked);
    choose_noise(series);
    plan_.pairs.clear();
    for (std::size_t p = 0; p < series.size(); ++p) {
      const PhaseEstimate& e = estimates_[p];
      ExecutedPair pair;
      pair.features = plan_.structure.pairs[p];
      pair.theta = e.theta;
      pair.theta_error = e.error;
      pair.intercept = e.intercept;
      pair.reached = e.reached;
      pair.steps = e.steps;
      pair.lambda = middle(series[p].lambda);
      if (pair.features.kind == BlockKind::two_angles) {
        pair.other_theta = estimate_phase(positions_, series[p].second, noise_).theta;
      }
      plan_.pairs.push_back(pair);
    }
    LambdaSeen seen = lambda_of(plan_.pairs, plan_.told_lambda, prober_.roundoff());
    plan_.lambda = seen.lambda;
    if (!seen.precision.empty()) plan_.precision.push_back(std::move(seen.precision));
    plan_.sign = sign_of(plan_.pairs);
    if (!has_tables()) offset_from_intercepts();
    std::vector<std::vector<Block>> blocks;
    for (const PairSeries& one : series) blocks.push_back(one.blocks);
    // Numbers of given tables have the tables' type before the kernel rounds anything.
    DType finest = plan_.way.out_dtype;
    if (has_tables() && unit_roundoff(plan_.way.given) > unit_roundoff(finest)) finest = plan_.way.given;
    for (std::string& words : rounded_factors(blocks, finest, plan_.lambda)) {
      plan_.precision = {std::move(words)};
    }
  }

  // For calls of several tokens whose angles do not follow the positions. Makes one call per position, and describes
  // what the tokens of a longer call are turned by in terms of these.
  void look_at_one_token() {
    const ExecutedPlan several = plan_;
    prober_.set_one_at_a_time(true);
    plan_.precision.clear();
    measure_phases();
    prober_.set_one_at_a_time(false);
    if (plan_.angle_error == 0) {
      plan_ = several;
      return;
    }
    const std::vector<std::int64_t> few{11, 12, 13, 14, 15, 23, 40, 47};
    std::vector<Prober::Position> asked;
    for (const std::int64_t m : few) asked.push_back(prober_.on_all_axes(std::min(m, prober_.largest_position())));
    const std::vector<PairSeries> series = ask_phases(prober_, plan_.structure.pairs, asked);
    std::string executed;
    std::size_t as_given = 0;
    for (std::size_t i = 0; i < few.size(); ++i) {
      std::vector<double> phase;
      for (const PairSeries& s : series) phase.push_back(s.first[i]);
      const auto position = effective_position(estimates_, phase, noise_);
      executed += fmt::format("{}{}", i > 0 ? ", " : "", position ? std::to_string(*position) : "nothing known");
      if (position && *position != few[i]) plan_.moved.push_back({few[i], *position});
      as_given += position && *position == few[i] ? 1 : 0;
    }
    plan_.longer_calls_differ = as_given == few.size();
    if (plan_.longer_calls_differ) {
      plan_.positions = fmt::format("as given in a call of {} tokens, and not in a longer one", few.size());
      return;
    }
    plan_.positions = fmt::format("in a call of several tokens positions are taken for others: {} for {}", executed,
                                  fmt::join(few, ", "));
  }

  static double middle(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  }

  // The least error of the angles at which theta holds at every position, as given or as some rule changes it. If there
  // is none: f32, and what does not fit stays unexplained.
  void choose_noise(const std::vector<PairSeries>& series) {
    // Four rounded products and sums at most go into an entry, and two entries into an angle.
    const double noise = plan_.angle_noise = 4 * prober_.roundoff();
    for (const double relative : angle_levels) {
      noise_ = {noise, relative};
      estimates_.clear();
      for (const PairSeries& s : series) estimates_.push_back(estimate_phase(positions_, s.first, noise_));
      const bool moved = relative <= of_float && find_moved(series);
      if (!moved &&
          !std::all_of(positions_.begin(), positions_.end(), [&](std::int64_t m) { return fit_at(series, m, m); })) {
        continue;
      }
      plan_.angle_error = relative;
      return;
    }
    noise_ = {noise, of_float};
    estimates_.clear();
    for (const PairSeries& s : series) estimates_.push_back(estimate_phase(positions_, s.first, noise_));
  }

  // Whether the phases of every pair at `given` match the phases at `executed`.
  bool fit_at(const std::vector<PairSeries>& series, std::int64_t given, std::int64_t executed) const {
    const auto i =
        static_cast<std::size_t>(std::lower_bound(positions_.begin(), positions_.end(), given) - positions_.begin());
    for (std::size_t p = 0; p < series.size(); ++p) {
      if (!fits(estimates_[p], executed, series[p].first[i], noise_)) return false;
    }
    return true;
  }

  // Finds a rule that changes positions and explains every phase. Else finds each position by itself, as far as the
  // slowest pair tells them apart.
  bool find_moved(const std::vector<PairSeries>& series) {
    std::vector<std::int64_t> off;
    for (const std::int64_t m : positions_) {
      if (!fit_at(series, m, m)) off.push_back(m);
    }
    if (off.empty()) return false;
    for (const PositionRule& rule : position_rules(positions_, off.front())) {
      if (!std::all_of(positions_.begin(), positions_.end(),
                       [&](std::int64_t m) { return fit_at(series, m, rule.of(m)); })) {
        continue;
      }
      for (const std::int64_t m : off) plan_.moved.push_back({m, rule.of(m)});
      plan_.positions = fmt::format("{}: {} is {}", rule.words, off.front(), rule.of(off.front()));
      return true;
    }
    std::vector<MovedPosition> moved;
    for (const std::int64_t m : off) {
      const auto i =
          static_cast<std::size_t>(std::lower_bound(positions_.begin(), positions_.end(), m) - positions_.begin());
      std::vector<double> phase;
      for (const PairSeries& s : series) phase.push_back(s.first[i]);
      const auto executed = effective_position(estimates_, phase, noise_);
      if (!executed) return false;
      moved.push_back({m, *executed});
    }
    plan_.moved = moved;
    plan_.positions = "positions are taken for others:";
    for (std::size_t i = 0; i < std::min<std::size_t>(moved.size(), 4); ++i) {
      plan_.positions += fmt::format("{} {} for {}", i > 0 ? "," : "", moved[i].given, moved[i].executed);
    }
    return true;
  }

  // A kernel that begins at position c has turned pair p by c theta[p] at position 0.
  void offset_from_intercepts() {
    const bool none = std::all_of(estimates_.begin(), estimates_.end(),
                                  [&](const PhaseEstimate& e) { return std::fabs(e.intercept) <= 2 * noise_.at(0); });
    if (none) return;
    std::vector<PhaseEstimate> from_zero = estimates_;
    std::vector<double> phase;
    for (PhaseEstimate& e : from_zero) {
      phase.push_back(e.intercept);
      e.intercept = 0;
    }
    plan_.position_offset = effective_position(from_zero, phase, noise_);
  }

  // Each pair's index among the spec's pairs.
  std::vector<std::size_t> index_in_spec() const {
    std::vector<std::size_t> index;
    for (const ExecutedPair& pair : plan_.pairs)
      index.push_back(index_of(pair.features, plan_.structure, *plan_.pairing, told()));
    return index;
  }

  // The measured frequencies in the order of the spec's pairs; pairs that do not turn count as 0.
  std::vector<MeasuredTheta> measured_theta() const {
    const int pairs = plan_.rotary_dim / 2;
    std::vector<MeasuredTheta> theta(static_cast<std::size_t>(pairs), MeasuredTheta{0, still_error()});
    const std::vector<std::size_t> index = index_in_spec();
    for (std::size_t p = 0; p < index.size(); ++p) {
      const ExecutedPair& pair = plan_.pairs[p];
      if (index[p] < theta.size()) theta[index[p]] = {plan_.sign < 0 ? -pair.theta : pair.theta, pair.theta_error};
    }
    return theta;
  }

  // For a pair that did not turn up to the largest position.
  double still_error() const {
    const auto far = static_cast<double>(std::max<std::int64_t>(1, prober_.largest_position()));
    return 8 * prober_.roundoff() / far;
  }

  RopeSpec told_here() const {
    RopeSpec spec = told();
    spec.rotary_dim = plan_.rotary_dim;
    keep_in_head(spec);
    spec.pairing = *plan_.pairing;
    spec.attention_factor.reset();
    return spec;
  }

  void find_rules() {
    if (!plan_.pairing || plan_.rotary_dim > told().head_dim) return;
    for (const ExecutedPair& pair : plan_.pairs) {
      if (pair.features.kind == BlockKind::two_angles || pair.features.kind == BlockKind::other) return;
    }
    FrequencyQuestion question;
    question.spec = told_here();
    if (plan_.rotary_dim != told().rotary_dim) {
      // Sections and lists were told for another number of pairs.
      question.spec.axes = {};
      if (!lists_of(question.spec.scaling).empty()) question.spec.scaling = scaling::None{};
    }
    question.sequence_length = prober_.sequence_length();
    question.theta = measured_theta();
    question.other_lengths =
        ask_other_lengths(prober_, plan_.structure.pairs, index_in_spec(), question.theta.size(), noise_);
    find_rules_of_either_sign(question);
    if (!plan_.rules.empty()) {
      const std::string rounded = rounded_theta(question.theta, plan_.rules.front(), question.sequence_length);
      const bool was_given = plan_.way.source == AngleSource::frequencies && rounded.ends_with(name(plan_.way.given));
      if (!rounded.empty() && !was_given) plan_.precision.push_back(rounded);
    }
  }

  // Whole turns can hide behind either sign. So a rule that explains all frequencies decides, not most of the pairs.
  // First with f64's precision, then with f32's. Beyond that, theta must be the rule's, rounded to a narrower type.
  void find_rules_of_either_sign(FrequencyQuestion& question) {
    const int seen = plan_.sign;
    const std::vector<FrequencyQuestion::AtLength> as_measured = question.other_lengths;
    const auto with_sign = [&](int sign) {
      plan_.sign = sign;
      question.theta = measured_theta();
      question.other_lengths = as_measured;
      for (auto& other : question.other_lengths) {
        for (MeasuredTheta& theta : other.theta) theta.value = sign < 0 ? -theta.value : theta.value;
      }
    };
    std::vector<FrequencyRule> free;
    for (const double relative : theta_levels) {
      for (const int sign : {1, -1}) {
        with_sign(sign);
        plan_.rules = frequency_rules(question, relative);
        std::erase_if(plan_.rules, [&](const FrequencyRule& rule) {
          return rule.is_rule && relative > of_float &&
                 rounded_theta(question.theta, rule, question.sequence_length).empty();
        });
        if (!plan_.rules.empty() && plan_.rules.front().is_rule) return;
        if (free.empty() && (sign == seen || seen == 0)) free = plan_.rules;
      }
    }
    with_sign(seen);
    plan_.rules = free;
  }

  void find_spec() {
    const bool rotations = std::all_of(plan_.pairs.begin(), plan_.pairs.end(), [](const ExecutedPair& pair) {
      return pair.features.kind == BlockKind::rotation;
    });
    const int told_sign = plan_.way.direction == Direction::backward ? -1 : 1;
    if (!plan_.pairing || !rotations || !plan_.moved.empty() || plan_.position_offset || plan_.sign != told_sign ||
        std::isnan(plan_.lambda) || !plan_.structure.groups.empty() || !plan_.structure.lone.empty() ||
        !plan_.structure.silent.empty() || plan_.predicted_right < plan_.predicted) {
      return;
    }
    RopeSpec spec = told_here();
    if (!has_tables()) {
      if (plan_.rules.empty() || !plan_.rules.front().is_rule) return;
      spec = plan_.rules.front().spec;
      const int axes = told().axes.count();
      if (axes > 1 && prober_.separate_axes() && !lay_out_axes(spec, axes, plan_.pairs, index_in_spec())) return;
    }
    const double usual = compile(spec, plan_.sequence_length).lambda;
    const double known_to = plan_.lambda == plan_.told_lambda ? 0 : lambda_moves_by * prober_.roundoff() * usual;
    if (std::fabs(usual - plan_.lambda) > known_to) spec.attention_factor = plan_.lambda;
    plan_.spec = spec;
  }

  Examiner examiner_;
  Prober prober_;
  ExecutedPlan plan_;
  std::vector<std::int64_t> positions_;
  std::vector<PhaseEstimate> estimates_;  // one a pair
  AngleNoise noise_;
};

}  // namespace

ExecutedPlan identify(Subject& subject, const Case& way, Oracles& oracles) {
  return Identification(subject, way, oracles).plan();
}

}  // namespace rope
