// GLD: what the real labml, Hugging Face and lucidrains codes computed.
#include <vector>

#include "tests/conformance/requirements.hpp"
#include "tools/judge/run/golden_agreement.hpp"

namespace rope {
namespace {

// Level quick takes each golden case from one of the claimed sources, in turn: most of what two sources show is the
// same.
void golden_cases(CaseList& list, AngleSource source) {
  if (list.golden() == nullptr) return;
  std::size_t turn = 0;
  for (const GoldenCase& golden : list.golden()->cases) {
    std::vector<Case> ways;
    for (const AngleSource way : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
      const std::optional<Case> c = golden_case(golden, way, list.claims());
      if (c && list.covers(*c)) ways.push_back(*c);
    }
    if (ways.empty()) continue;
    if (list.level() == Level::quick) ways = {ways[turn++ % ways.size()]};
    for (const Case& c : ways) {
      if (c.source == source) list.add(c);
    }
  }
}

void table_cases(CaseList& list) { golden_cases(list, AngleSource::tables); }
void frequency_cases(CaseList& list) { golden_cases(list, AngleSource::frequencies); }
void computed_cases(CaseList& list) { golden_cases(list, AngleSource::computed); }

}  // namespace

std::span<const Requirement> golden_requirements() {
  static constexpr Requirement requirements[] = {
      {"GLD-01",
       "Given the tables of a golden case, the kernel MUST give the source's output, within the bounds of both.",
       "PAIR, SIGN, PART, HEAD", "how the source made its tables", table_cases, golden_agreement},
      {"GLD-02",
       "Given the frequencies of a golden case, the kernel MUST give the source's output, within the bounds of both.",
       "POS, AXIS, PREC", "how the source made its frequencies", frequency_cases, golden_agreement},
      {"GLD-03",
       "Given base and scaling of a golden case, the kernel MUST give the source's output, within the bounds of both.",
       "FREQ, SCALE", "scaling rules that no source has", computed_cases, golden_agreement},
  };
  return requirements;
}

}  // namespace rope
