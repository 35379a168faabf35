#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "reference/pair_features.hpp"
#include "reference/rotation_plan.hpp"
#include "tools/identify/describe.hpp"
#include "tools/identify/phase.hpp"
#include "tools/identify/plan_words.hpp"

namespace rope {
namespace {

std::vector<FeaturePair> told_pairs(const RopeSpec& spec) {
  std::vector<FeaturePair> pairs;
  for (int p = 0; p < spec.rotary_dim / 2; ++p) {
    const auto [first, second] = pair_features(spec, p);
    pairs.push_back({first, second, first, second, BlockKind::rotation});
  }
  return pairs;
}

bool is_told(const FeaturePair& pair, const RopeSpec& spec) {
  const auto told = told_pairs(spec);
  return std::any_of(told.begin(), told.end(),
                     [&](const FeaturePair& t) { return t.first == pair.first && t.second == pair.second; });
}

bool permuted(const FeaturePair& p) { return p.out_first != p.first || p.out_second != p.second; }

// The backward map turns the other way.
int told_sign(const ExecutedPlan& plan) { return plan.way.direction == Direction::backward ? -1 : 1; }

// Every pair's angle at position 0 is a quarter turn, and falls from there.
bool cos_and_sin_exchanged(const ExecutedPlan& plan) {
  return !plan.pairs.empty() && std::all_of(plan.pairs.begin(), plan.pairs.end(), [&](const ExecutedPair& pair) {
    return std::fabs(pair.intercept - std::numbers::pi / 2) <= plan.angle_noise;
  });
}

// (b', a') where (a', b') is specified: a reflection that is a quarter turn ahead at position 0.
bool exchanged(const ExecutedPlan& plan) {
  return cos_and_sin_exchanged(plan) && std::all_of(plan.pairs.begin(), plan.pairs.end(), [](const ExecutedPair& pair) {
           return pair.features.kind == BlockKind::reflection;
         });
}

// The requested theta of each pair, by first feature.
std::map<int, double> told_theta(const ExecutedPlan& plan) {
  std::map<int, double> theta;
  for (const RotatedPair& pair : compile(plan.way.spec, plan.sequence_length).pairs) {
    theta[pair.first] = pair.theta.to_double();
  }
  return theta;
}

// The requested frequencies as if they had been measured, with f32's precision.
std::vector<MeasuredTheta> exact_theta(const ExecutedPlan& plan) {
  std::vector<MeasuredTheta> theta;
  for (const RotatedPair& pair : compile(plan.way.spec, plan.sequence_length).pairs) {
    theta.push_back({pair.theta.to_double(), of_float * pair.theta.to_double()});
  }
  return theta;
}

// The same angle at position 0 in every pair; nullopt: there is none, or pairs differ. Positions that begin elsewhere
// turn each pair by its own angle.
std::optional<double> common_phase(const ExecutedPlan& plan) {
  if (plan.pairs.size() < 2) return std::nullopt;
  const double phase = plan.pairs.front().intercept;
  const bool is_common = std::all_of(plan.pairs.begin(), plan.pairs.end(), [&](const ExecutedPair& pair) {
    return std::fabs(wrapped(pair.intercept - phase)) <= 2 * plan.angle_noise;
  });
  return is_common && std::fabs(phase) > 2 * plan.angle_noise ? std::optional(phase) : std::nullopt;
}

// Whether no constant frequencies give the angles: they were measured, and predict fewer than half of other rows.
bool is_contradicted(const ExecutedPlan& plan) { return 2 * plan.predicted_right < plan.predicted; }

void structure_differences(const ExecutedPlan& plan, std::vector<Difference>& found) {
  const Structure& s = plan.structure;
  const RopeSpec& told = plan.way.spec;
  const auto theta = told_theta(plan);
  const bool should_turn = std::any_of(theta.begin(), theta.end(), [](const auto& pair) { return pair.second != 0; });
  if (s.pairs.empty() && s.lone.empty() && s.groups.empty() && s.unwritten.empty()) {
    if (s.silent.empty() && !should_turn) return;
    found.push_back({s.silent.empty() ? "nothing is rotated: every feature comes out as it went in"
                                      : fmt::format("features {} depend on no input", index_words(s.silent)),
                     std::nullopt});
    return;
  }
  if (!s.silent.empty())
    found.push_back(
        {fmt::format("features {} depend on no input feature", index_words(s.silent)), BugClass::pairing_layout});
  if (!s.unwritten.empty())
    found.push_back({fmt::format("features {} are not written, or never a number", index_words(s.unwritten)),
                     BugClass::partial_passthrough});
  if (s.not_a_number) found.push_back({"NaN or infinity comes out of rows of 0 and 1", std::nullopt});
  for (std::size_t i = 0; i < std::min(s.groups.size(), most_listed); ++i) {
    found.push_back({fmt::format("features {} mix, where only two of a pair should", index_words(s.groups[i])),
                     BugClass::pairing_layout});
  }
  std::vector<FeaturePair> wrong, moved;
  for (const FeaturePair& pair : s.pairs) {
    if (!is_told(pair, told)) wrong.push_back(pair);
    if (permuted(pair)) moved.push_back(pair);
  }
  if (!moved.empty()) {
    found.push_back({fmt::format("the output is permuted: the pair of features {} and {} comes out in {} and {}",
                                 moved[0].first, moved[0].second, moved[0].out_first, moved[0].out_second),
                     BugClass::pairing_layout});
  }
  if (!wrong.empty()) {
    found.push_back(
        {fmt::format("rotates pairs {} where {} is specified", pair_words(s.pairs), pair_words(told_pairs(told))),
         BugClass::pairing_layout});
  }
  if (exchanged(plan)) {
    found.push_back({"the two features of each pair come out exchanged", BugClass::pairing_layout});
    return;
  }
  for (const auto& [kind, count] : kinds(plan)) {
    if (kind != BlockKind::rotation)
      found.push_back(
          {fmt::format("{} of {} pairs: {}", count, s.pairs.size(), kind_words(kind)), BugClass::sign_direction});
  }
  std::vector<int> still;
  for (const int feature : s.passed) {
    const int in_block = feature - told.rotary_offset;
    if (in_block >= 0 && in_block < told.rotary_dim) still.push_back(feature);
  }
  std::erase_if(still, [&](int feature) {
    for (const FeaturePair& pair : told_pairs(told)) {
      if (pair.first == feature || pair.second == feature) return theta.at(pair.first) == 0;
    }
    return false;
  });
  if (!still.empty() && wrong.empty()) {
    found.push_back({fmt::format("features {} are not rotated", index_words(still)), BugClass::partial_passthrough});
  }
  for (std::size_t i = 0; i < std::min(s.lone.size(), most_listed); ++i) {
    const Structure::Lone& l = s.lone[i];
    found.push_back({l.input == l.output
                         ? fmt::format("feature {} comes out times {:.6g} .. {:.6g}", l.input, l.least, l.most)
                         : fmt::format("output feature {} is input feature {}", l.output, l.input),
                     BugClass::partial_passthrough});
  }
}

void angle_differences(const ExecutedPlan& plan, std::vector<Difference>& found) {
  const RopeSpec& told = plan.way.spec;
  const BugClass of_theta =
      std::holds_alternative<scaling::None>(told.scaling) ? BugClass::frequency_base : BugClass::scaling_config;
  if (exchanged(plan)) return;
  if (cos_and_sin_exchanged(plan)) {
    found.push_back(
        {"cos and sin are exchanged: at position 0 every pair is a quarter turn on", BugClass::sign_direction});
    return;
  }
  if (plan.sign == -told_sign(plan))
    found.push_back({"the inverse rotation: every angle has the other sign", BugClass::sign_direction});
  if (plan.sign == 0) found.push_back({"some pairs turn the other way round", BugClass::sign_direction});
  if (plan.position_offset) {
    found.push_back({fmt::format("positions begin at {}: what is given as 0 is turned as {}", *plan.position_offset,
                                 *plan.position_offset),
                     BugClass::position_offset});
  } else if (const auto phase = common_phase(plan)) {
    found.push_back({fmt::format("{:.6g} radians are added to every angle", *phase), BugClass::phase});
  } else if (std::any_of(plan.pairs.begin(), plan.pairs.end(),
                         [&](const ExecutedPair& p) { return std::fabs(p.intercept) > 2 * plan.angle_noise; })) {
    found.push_back({"pairs are turned at position 0 already", BugClass::position_offset});
  }
  if (plan.longer_calls_differ) {
    found.push_back({"positions are taken " + plan.positions, BugClass::launch_limits});
  } else if (!plan.positions.empty()) {
    found.push_back({plan.positions, BugClass::position_offset});
  }
  if (plan.way.source == AngleSource::tables) return;
  const auto theta = told_theta(plan);
  std::vector<const ExecutedPair*> off;
  for (const ExecutedPair& pair : plan.pairs) {
    const auto of_told = theta.find(pair.features.first);
    if (of_told == theta.end() || !is_told(pair.features, told)) continue;
    const double turned = plan.sign < 0 ? -pair.theta : pair.theta;
    const double allowed = pair.theta_error + std::max(plan.angle_error, of_float) * std::fabs(of_told->second);
    if (std::fabs(wrapped(turned - of_told->second)) > allowed) off.push_back(&pair);
  }
  if (is_contradicted(plan) && plan.positions.empty() && !off.empty()) {
    found.push_back(
        {fmt::format("the angles do not grow evenly with the position: constant frequencies give only {} of "
                     "{} elements of random rows",
                     plan.predicted_right, plan.predicted),
         BugClass::phase});
    return;
  }
  const RopeSpec* ruled = plan.rules.empty() ? nullptr : &plan.rules.front().spec;
  const bool others = ruled != nullptr && !off.empty();
  const bool as_told = ruled != nullptr && misfit(*ruled, plan.sequence_length, exact_theta(plan), 0) <= 1;
  if (as_told) {
    double worst = 0;
    for (const ExecutedPair* pair : off) {
      const double specified = theta.at(pair->features.first);
      const double turned = plan.sign < 0 ? -pair->theta : pair->theta;
      worst = std::max(worst, std::fabs(wrapped(turned - specified) / specified));
    }
    if (!off.empty())
      found.push_back({fmt::format("{} of {} frequencies are off by up to {:.2g} of themselves", off.size(),
                                   plan.pairs.size(), worst),
                       BugClass::precision});
  } else if (others) {
    found.push_back(
        {fmt::format("{} of {} frequencies are others: {}", off.size(), plan.pairs.size(), plan.rules.front().words),
         of_theta, !plan.rules.front().is_rule});
    for (const std::string& also : plan.rules.front().also) found.push_back({"which is also " + also, std::nullopt});
  } else if (!off.empty()) {
    const ExecutedPair& pair = *off.front();
    found.push_back(
        {fmt::format("{} of {} frequencies are others: pair {} turns {:.10g} radians a position where {:.10g} is "
                     "specified",
                     off.size(), plan.pairs.size(), pair.features.first, pair.theta, theta.at(pair.features.first)),
         of_theta, true});
  }
  const std::vector<int> axis = axis_of_pairs(told);
  if (told.axes.count() > 1) {
    int wrong = 0;
    std::string example;
    for (const ExecutedPair& pair : plan.pairs) {
      const auto p =
          static_cast<std::size_t>(told.pairing == Pairing::half_split ? pair.features.first : pair.features.first / 2);
      if (p >= axis.size() || pair.axis == axis[p] || std::fabs(pair.theta) <= pair.theta_error) continue;
      if (wrong++ == 0) {
        example = pair.axis < 0
                      ? fmt::format("pair {} follows no axis, or several, where axis {} is specified", p, axis[p])
                      : fmt::format("pair {} follows axis {} where axis {} is specified", p, pair.axis, axis[p]);
      }
    }
    if (wrong > 0)
      found.push_back({fmt::format("{} of {} pairs follow another axis: {}", wrong, plan.pairs.size(), example),
                       BugClass::multi_axis});
  }
}

void lambda_differences(const ExecutedPlan& plan, std::vector<Difference>& found) {
  const double told = plan.told_lambda, seen = plan.lambda;
  if (plan.pairs.empty() || seen == told) return;
  if (std::isnan(seen)) {
    found.push_back({"pairs are multiplied by different factors", BugClass::pipeline});
    return;
  }
  std::string how;
  const auto is = [&](double value) { return std::fabs(seen - value) <= plan.angle_noise * value && value != told; };
  if (is(1)) how = ": the attention factor is ignored";
  if (is(told * told)) how = ": the attention factor squared, as where rope is applied twice";
  if (is(1 / told)) how = ": divided by the attention factor";
  if (is(told * std::numbers::log2e)) how = ": times log2(e)";
  // Coarse cos and sin change the mean by this little; nobody would multiply by such a factor.
  const bool is_rounding = std::fabs(seen / told - 1) < 1.0 / 1024;
  std::optional<BugClass> of_lambda = told == 1 ? BugClass::pipeline : BugClass::scaling_config;
  if (is_rounding) of_lambda.reset();
  found.push_back(
      {fmt::format("pairs are multiplied by {:.8g} where {:.8g} is specified{}", seen, told, how), of_lambda});
}

struct WantedEntry {
  TableEntry::From from;
  int column;
  double sign;
};

bool same(const TableEntry& e, const WantedEntry& wanted, std::int64_t row) {
  return e.from == wanted.from && e.column == wanted.column && e.row == row && e.sign == wanted.sign;
}

// The requested use: cos and sin from the row of the position. The column is the pair's, or the feature's if tables
// have full width.
void table_differences(const ExecutedPlan& plan, std::vector<Difference>& found) {
  const RopeSpec& told = plan.way.spec;
  const bool split = told.pairing == Pairing::half_split;
  const double s = plan.way.direction == Direction::backward ? -1 : 1;
  int wrong = 0, columns = 0, rows = 0, tables = 0, signs = 0;
  std::string example;
  for (const TableUse& use : plan.tables) {
    if (!is_told(use.features, told)) continue;
    const int one = use.features.first - told.rotary_offset, other = use.features.second - told.rotary_offset;
    const int p = split ? one : one / 2;
    const int first = plan.way.full_tables ? one : p, second = plan.way.full_tables ? other : p;
    // Backward is the transpose: the sines exchange places.
    const bool back = s < 0;
    const std::pair<const TableEntry*, WantedEntry> entries[] = {
        {&use.aa, {TableEntry::From::cos, first, 1}},
        {&use.ab, {TableEntry::From::sin, back ? second : first, -s}},
        {&use.ba, {TableEntry::From::sin, back ? first : second, s}},
        {&use.bb, {TableEntry::From::cos, second, 1}}};
    for (const auto& [entry, wanted] : entries) {
      if (same(*entry, wanted, use.position)) continue;
      ++wrong;
      columns += entry->column != wanted.column ? 1 : 0;
      rows += entry->row != use.position ? 1 : 0;
      tables += entry->from != wanted.from ? 1 : 0;
      signs += entry->sign != wanted.sign ? 1 : 0;
      if (example.empty()) {
        example = fmt::format("pair {} at position {} is given {} where {}{}[{}][{}] is specified", p, use.position,
                              entry_words(*entry), wanted.sign < 0 ? "-" : "",
                              wanted.from == TableEntry::From::cos ? "cos" : "sin", use.position, wanted.column);
      }
    }
  }
  if (wrong == 0) return;
  std::vector<std::string> what;
  if (tables > 0) what.push_back("sin where cos belongs, or the other way round");
  if (columns > 0 && tables == 0) what.push_back("other columns");
  if (rows > 0 && tables == 0) what.push_back("other rows");
  if (signs > 0 && tables == 0) what.push_back("other signs");
  found.push_back(
      {fmt::format("tables are read otherwise ({}): {}", fmt::join(what, ", "), example), BugClass::table_cache});
}

}  // namespace

std::vector<Difference> differences(const ExecutedPlan& plan) {
  std::vector<Difference> found;
  if (!plan.problem.empty()) return {{"no answer: " + plan.problem, std::nullopt}};
  structure_differences(plan, found);
  angle_differences(plan, found);
  lambda_differences(plan, found);
  table_differences(plan, found);
  if (plan.predicted_right < plan.predicted) {
    found.push_back({fmt::format("{} of {} elements of random rows are not what this plan predicts: the kernel does "
                                 "something else to rows of several features",
                                 plan.predicted - plan.predicted_right, plan.predicted),
                     std::nullopt});
  }
  for (const std::string& rounded : plan.precision) found.push_back({rounded, BugClass::precision});
  return found;
}

}  // namespace rope
