// rejecting_blocks LIBRARY KERNEL LEVEL [DEMAND..]: the blocks of cases in which a kernel fails, as one line of JSON:
// {"ROT-01": ["rotation.cpp:34", ..], ..}. Every case is judged, none is shrunk and nothing is diagnosed. A block is
// the cases that one line of the standard proposes for one requirement.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "golden/manifest.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/judge/case/case.hpp"
#include "tools/judge/run/suite.hpp"
#include "tools/worker/client/library_subject.hpp"
#include "tools/worker/client/program_files.hpp"

namespace rope {
namespace {

using Blocks = std::map<std::string, std::set<std::string>>;  // by requirement

std::string key_of(const Case& c) { return c.requirement + " " + to_text(c); }

std::string words_of(const Proposal& at) {
  return fmt::format("{}:{}", std::filesystem::path(at.file_name()).filename().string(), at.line());
}

// What `demands` ask for decides, so that their requirements reject, too.
Demands demands_of(const std::vector<std::string>& words) {
  Demands demands = 0;
  for (const std::string& word : words) demands |= mask(demand_from_word(word).value());
  return demands;
}

Blocks rejecting_blocks(Subject& subject, const Selection& selection, const Manifest& golden) {
  std::vector<Case> cases;
  std::map<std::string, std::string> block_of;  // by key
  Blocks blocks;                                 // all
  for (const Requirement& requirement : all_requirements()) {
    CaseList list(requirement.id, subject.claims(), selection, &golden);
    requirement.cases(list);
    const std::vector<Proposal> proposals = list.proposals();
    std::size_t i = 0;
    for (const Case& c : list.take()) {
      const std::string block = words_of(proposals[i++]);
      block_of[key_of(c)] = block;
      blocks[c.requirement].insert(block);
      cases.push_back(c);
    }
  }
  Blocks held;
  Blocks failed;
  std::mutex judged;
  Oracles oracles;
  SuiteOptions options;
  options.selection = selection;
  options.cases = &cases;
  options.golden = &golden;
  options.shrinks = false;
  options.after_case = [&](const Case& c, bool passed) {
    const std::scoped_lock lock(judged);
    (passed ? held : failed)[c.requirement].insert(block_of.at(key_of(c)));
  };
  const SubjectReport report = run_suite(subject, oracles, all_requirements(), options);
  if (report.interrupted) throw std::runtime_error(report.ended_by);
  for (const RequirementResult& result : report.results) {
    if (result.verdict != Verdict::fail) continue;
    std::set<std::string>& of_requirement = failed[result.id];
    // A kernel that dies three times is not asked again: in the blocks that were not asked, it counts as failing.
    for (const std::string& block : blocks[result.id]) {
      if (!held[result.id].contains(block)) of_requirement.insert(block);
    }
    if (of_requirement.empty()) of_requirement.insert("the whole run");  // Requirement::in_run
  }
  return failed;
}

}  // namespace
}  // namespace rope

int main(int count, char** words) try {
  using namespace rope;
  if (count < 4) {
    std::fputs("usage: rejecting_blocks LIBRARY KERNEL quick|full [DEMAND..]\n", stderr);
    return 2;
  }
  WorkerOptions worker;
  worker.wall_deadline = std::chrono::seconds(10);  // as judge.py: a kernel that waits for ever does so in each call
  const auto subject = open_library(words[1], words[2], worker);
  Selection selection;
  selection.level = std::string(words[3]) == "full" ? Level::full : Level::quick;
  selection.demands = demands_of({words + 4, words + count});
  const Manifest golden = read_manifest(program_file("golden/manifest.json").parent_path());
  const nlohmann::json blocks = rejecting_blocks(*subject, selection, golden);
  fmt::print("{}\n", blocks.dump());
  return 0;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  return 3;
}
