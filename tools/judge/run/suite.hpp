// The suite: runs requirements on one subject. The result is data; tools/report prints it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/judge/call/stop.hpp"
#include "tools/judge/case/case_list.hpp"
#include "tools/judge/run/budget.hpp"
#include "tools/judge/run/examiner.hpp"
#include "tools/judge/run/requirement.hpp"
#include "tools/judge/run/subject_report.hpp"

namespace rope {

// A requirement that is known to fail.
struct ExpectedFailure {
  std::string reason;
  bool may_pass = false;  // it was seen to fail only at other levels: here it may pass as well
};

// The progress of a run. With several jobs, several requirements are being judged at once.
struct Progress {
  const RequirementResult& requirement;  // one being judged, with its results so far
  std::size_t index = 0;                 // how many requirements are done
  std::size_t count = 0;                 // of requirements
  std::int64_t cases = 0;                // done in all
  std::int64_t all_cases = 0;
};

struct SuiteOptions {
  Selection selection;
  // If not null: runs only these cases, not the ones that the requirements propose. No failure is shrunk and no horizon
  // measured, because the subject can answer no other calls.
  const std::vector<Case>* cases = nullptr;
  std::function<void(const Case&)> before_case;
  std::function<void(const Case&, bool passed)> after_case;  // of requirements that decide; by any thread
  std::map<std::string, ExpectedFailure> expected_failures;  // by requirement
  bool shrinks = true;               // failing cases
  bool fail_fast = false;            // stop after the first requirement that fails; then nothing is shrunk
  std::size_t jobs = 1;              // the report is the same for every number but for its times, without a budget
  std::optional<Budget> budget;
  const Manifest* golden = nullptr;  // null: the golden requirements are not run
  std::function<void(const Progress&)> progress;  // by any thread, one at a time
  const Stop* stop = nullptr;
};

// In the order of `requirements`. Where the subject has an opener, a few processes share the requirements (lanes.hpp).
SubjectReport run_suite(Subject& subject, Oracles& oracles, std::span<const Requirement> requirements,
                        const SuiteOptions& options);

// Only one case, not shrunk. Throws InputError if the subject does not claim it.
Finding replay(const Requirement& requirement, const Case& c, Subject& subject, Oracles& oracles,
               const Manifest* golden, Grade required = {});

}  // namespace rope
