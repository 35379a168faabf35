#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/golden/committed.hpp"
#include "tests/unit/judge/case/any_case.hpp"

namespace rope {
namespace {

// By golden case, how many requirements ask it.
std::map<std::string, int> golden_cases_asked(Level level, const Claims& claims) {
  Selection selection;
  selection.level = level;
  std::map<std::string, int> asked;
  for (const std::string id : {"GLD-01", "GLD-02", "GLD-03"}) {
    CaseList list(id, claims, selection, &committed());
    requirement_called(id).cases(list);
    std::set<std::string> own;
    for (const Case& c : list.take()) own.insert(c.golden);
    for (const std::string& golden : own) ++asked[golden];
  }
  return asked;
}

TEST_CASE("GLD: level quick asks each golden case of level full, from one source of angles", "[golden]") {
  Claims only_tables = test::all_claims();
  only_tables.capabilities.angle_sources = ROPE_BIT(ROPE_TABLES);
  for (const Claims& claims : {test::all_claims(), only_tables}) {
    const std::map<std::string, int> full = golden_cases_asked(Level::full, claims);
    const std::map<std::string, int> quick = golden_cases_asked(Level::quick, claims);
    CHECK(full.size() > 100);
    CHECK(quick.size() == full.size());
    for (const auto& [golden, times] : quick) {
      INFO(golden);
      CHECK(times == 1);
    }
  }
  std::map<int, int> sources;
  for (const auto& [golden, times] : golden_cases_asked(Level::full, test::all_claims())) ++sources[times];
  CHECK(sources[3] > 100);
}

}  // namespace
}  // namespace rope
