// The suite: requirements on one subject. What comes out is data; tools/report writes it down.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/judge/case/case_list.hpp"
#include "tools/judge/run/diagnosis.hpp"
#include "tools/judge/run/examiner.hpp"
#include "tools/judge/run/horizon.hpp"
#include "tools/judge/run/requirement.hpp"

namespace rope {

// A note is a SHOULD that does not hold and that nobody demanded. What was expected to fail either does, or is an
// unexpected pass, which counts as a failure: else the list of what is expected would rot.
enum class Verdict { pass, fail, note, not_claimed, expected_failure, unexpected_pass };
std::string_view name(Verdict verdict);

// A case that does not hold, shrunk as far as it goes.
struct Failure {
  Case minimal;
  Finding finding;                   // of the minimal case
  std::string first_seen;            // the case that failed first, as text
  bool needs_earlier_calls = false;  // the minimal case holds where a new process is asked for nothing else
};

struct RequirementResult {
  std::string id;
  std::string sentence;
  bool is_must = true;
  Verdict verdict = Verdict::not_claimed;
  std::int64_t cases = 0;        // executed
  std::int64_t failed = 0;       // of these
  std::optional<Finding> worst;  // the one that used most of its bound
  std::string worst_case;        // as text
  std::optional<Failure> failure;
  std::string reason;     // why it was expected to fail
  std::string undecided;  // why the first case that could not be judged could not; such cases are not counted
  double seconds = 0;
};

// How precise the kernel was found to be in one dtype: the tightest grade that held in every case.
struct MeasuredGrade {
  DType dtype = DType::f32;
  std::string grade;  // "A1" .. "C3"; empty where not even C3 held
  double use = 0;     // of that grade's bound, by the worst element
};

// Of a subject that answers by files.
struct Responses {
  std::int64_t asked_for = 0;          // files
  std::vector<std::string> missing;    // files
  std::vector<std::string> malformed;  // a sentence each
};

struct SubjectReport {
  std::string subject;
  Selection selection;
  std::vector<RequirementResult> results;
  std::vector<MeasuredGrade> grades;
  std::vector<Horizon> horizons;
  std::vector<std::string> permitted_variants;
  std::optional<Diagnosis> diagnosis;  // where it does not conform and one was asked for
  std::optional<Responses> responses;
  std::int64_t calls = 0;
  double seconds = 0;
  bool interrupted = false;

  std::int64_t executed() const;  // cases
  std::int64_t count(Verdict verdict) const;
  bool conforms() const;     // some case was executed, none failed, nothing was cut short
  bool as_expected() const;  // the same, but for failures that were expected; and all of those were seen
};

// How far a run is.
struct Progress {
  const RequirementResult& requirement;  // the one that is being judged, as far as it is
  std::size_t index = 0;                 // of it
  std::size_t count = 0;                 // of requirements
  std::int64_t cases = 0;                // done in all
  std::int64_t all_cases = 0;
};

struct SuiteOptions {
  Selection selection;
  // Where not null: these cases, in place of those that the requirements propose, and nothing else: no failure is
  // shrunk and no horizon measured, because the subject can answer no other calls.
  const std::vector<Case>* cases = nullptr;
  std::function<void(const Case&)> before_case;
  std::map<std::string, std::string> expected_failures;  // requirement, reason
  bool fail_fast = false;            // stop after the first requirement that fails; nothing is shrunk then
  const Manifest* golden = nullptr;  // null: the golden requirements are not run
  std::function<void(const Progress&)> progress;
  const std::atomic<bool>* stop = nullptr;  // set from a signal handler
};

// In the order of `requirements`.
SubjectReport run_suite(Subject& subject, Oracles& oracles, std::span<const Requirement> requirements,
                        const SuiteOptions& options);

// One case alone, not shrunk. Throws InputError where the subject does not claim it.
Finding replay(const Requirement& requirement, const Case& c, Subject& subject, Oracles& oracles,
               const Manifest* golden, Grade required = {});

}  // namespace rope
