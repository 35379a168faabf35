#include "tools/judge/verdict/source_use.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "tools/judge/case/golden_call.hpp"
#include "tools/judge/verdict/judge.hpp"

namespace rope {
namespace {

bool has_its_own_constant(const GoldenCase& golden) {
  const std::vector<double> direct = direct_constants(golden.spec, golden.sequence_length);
  return golden.c && !direct.empty() && *golden.c > *std::max_element(direct.begin(), direct.end());
}

Finding judge_source(const Case& c, const Manifest& golden, Oracles& oracles) {
  GoldenCall answered = build_golden_call(c, golden);
  answered.call.q_out = answered.q.value;
  if (answered.k) answered.call.k_out = answered.k->value;
  Expectation expected(answered.call, c.spec, oracles);
  return judge_call(answered.call, answered.call.q, answered.call.k, expected);
}

struct Judged {
  std::string id;
  PerGrade<double> use;
};

SourceUse summary(const std::vector<Judged>& all) {
  SourceUse result;
  result.cases = all.size();
  const auto of = [&](std::size_t a, std::size_t w) {
    return *std::max_element(all.begin(), all.end(),
                             [=](const Judged& x, const Judged& y) { return x.use[a][w] < y.use[a][w]; });
  };
  for (std::size_t a = 0; a < angle_grades; ++a) {
    for (std::size_t w = 0; w < arithmetic_grades; ++w) {
      const Judged worst = of(a, w);
      result.use = worst.use[a][w];
      result.worst = worst.id;
      if (result.use > 1) continue;
      result.grade = name(Grade{static_cast<AngleGrade>(a), static_cast<ArithmeticGrade>(w)});
      return result;
    }
  }
  return result;
}

}  // namespace

std::vector<SourceUse> judge_sources(const Manifest& golden, Oracles& oracles) {
  std::map<std::tuple<std::string, DType, AngleSource>, std::vector<Judged>> groups;
  for (const GoldenCase& one : golden.cases) {
    if (!one.conforms || one.rounding == GoldenRounding::printed) continue;
    for (AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
      if (source == AngleSource::computed && has_its_own_constant(one)) continue;
      const std::optional<Case> c = case_of_golden(one, source);
      if (!c) continue;
      groups[{one.package, c->out_dtype, source}].push_back({one.id, judge_source(*c, golden, oracles).use_by_grade});
    }
  }
  std::vector<SourceUse> uses;
  for (const auto& [key, judged] : groups) {
    SourceUse use = summary(judged);
    std::tie(use.package, use.dtype, use.source) = key;
    uses.push_back(std::move(use));
  }
  return uses;
}

}  // namespace rope
