#include "tools/identify/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/identify/plan_words.hpp"

namespace rope {
namespace {

std::string theta_words(const ExecutedPlan& plan) {
  std::vector<std::string> some;
  const std::size_t n = plan.pairs.size();
  for (std::size_t p = 0; p < n; ++p) {
    if (p >= 2 && p + 1 < n) continue;
    const ExecutedPair& pair = plan.pairs[p];
    some.push_back(fmt::format("{}{:.10g} +- {:.1g}", p + 1 == n && n > 3 ? ".. " : "", pair.theta, pair.theta_error));
  }
  return fmt::format("{} radians a position", fmt::join(some, ", "));
}

}  // namespace

std::string called(const ExecutedPlan& plan) {
  const Case& way = plan.way;
  std::string types(name(way.dtype));
  if (way.out_dtype != way.dtype) types += fmt::format(" to {}", name(way.out_dtype));
  std::string source(name(way.source));
  if (way.source == AngleSource::tables)
    source += fmt::format(" of {} in {}", way.full_tables ? "full width" : "half width", name(way.given));
  if (way.source == AngleSource::frequencies) source += fmt::format(" in {}", name(way.given));
  return fmt::format("{}, {}, {}{}", types, source, way.direction == Direction::backward ? "backward, " : "",
                     to_flags(way.spec));
}

std::vector<std::pair<std::string, std::string>> description(const ExecutedPlan& plan) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (!plan.problem.empty()) return {{"problem", plan.problem}};
  const Structure& s = plan.structure;
  lines.emplace_back("pairs", pair_words(s.pairs) + (plan.pairing ? fmt::format(": {}", name(*plan.pairing)) : ""));
  for (const auto& [kind, count] : kinds(plan)) {
    if (kind != BlockKind::rotation)
      lines.emplace_back("blocks", fmt::format("{} of {}: {}", count, s.pairs.size(), kind_words(kind)));
  }
  lines.emplace_back("rotary_dim",
                     plan.rotary_dim > 0 ? std::to_string(plan.rotary_dim) : "not a whole block of features");
  lines.emplace_back("passed", s.passed.empty() ? "none" : index_words(s.passed));
  if (plan.pairs.empty()) return lines;
  lines.emplace_back("direction", plan.sign > 0   ? "forward: pair (a, b) turns a towards b"
                                  : plan.sign < 0 ? "every angle negative: the inverse, or the backward map"
                                                  : "mixed");
  lines.emplace_back("lambda",
                     std::isnan(plan.lambda) ? "differs from pair to pair" : fmt::format("{:.10g}", plan.lambda));
  std::int64_t reached = 0;
  for (const ExecutedPair& pair : plan.pairs) reached = std::max(reached, pair.reached);
  lines.emplace_back("positions", !plan.positions.empty() ? plan.positions
                                  : plan.position_offset  ? fmt::format("begin at {}", *plan.position_offset)
                                                          : fmt::format("as given, seen up to {}", reached));
  if (plan.way.source != AngleSource::tables) {
    lines.emplace_back("theta", theta_words(plan));
    for (std::size_t i = 0; i < plan.rules.size(); ++i) {
      const FrequencyRule& rule = plan.rules[i];
      std::string words = rule.words;
      if (rule.base_error > 0) words += fmt::format(" (to {:.1g} of itself)", rule.base_error);
      lines.emplace_back(i == 0 ? "rule" : "or", words);
      for (const std::string& also : rule.also) lines.emplace_back("or", also);
    }
    if (plan.rules.empty()) lines.emplace_back("rule", "none that is known");
  } else if (!plan.tables.empty()) {
    const TableUse& u = plan.tables.back();
    lines.emplace_back("tables", fmt::format("at position {}, features {} and {}: ({}) a + ({}) b, ({}) a + ({}) b",
                                             u.position, u.features.first, u.features.second, entry_words(u.aa),
                                             entry_words(u.ab), entry_words(u.ba), entry_words(u.bb)));
  }
  if (plan.way.spec.axes.count() > 1) {
    std::vector<int> axis;
    for (const ExecutedPair& pair : plan.pairs) axis.push_back(pair.axis);
    lines.emplace_back("axes", fmt::format("{}", fmt::join(axis, " ")));
  }
  if (plan.way.source != AngleSource::tables) {
    lines.emplace_back("angles", plan.angle_error > 0
                                     ? fmt::format("relative error at most 2^{}", std::ilogb(plan.angle_error))
                                     : "do not follow the positions");
  }
  for (const std::string& rounded : plan.precision) lines.emplace_back("precision", rounded);
  if (plan.predicted > 0) {
    lines.emplace_back("check", fmt::format("{} of {} elements of random rows came out as this plan predicts",
                                            plan.predicted_right, plan.predicted));
  }
  lines.emplace_back("spec", plan.spec ? to_flags(*plan.spec) : "no spec makes this plan");
  return lines;
}

}  // namespace rope
