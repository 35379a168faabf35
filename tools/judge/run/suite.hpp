// The suite: runs requirements on one subject. The result is data; tools/report prints it.
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
#include "tools/judge/run/shrink.hpp"

namespace rope {

// A note is a SHOULD that does not hold and that nobody demanded. An unexpected pass is on the list of expected
// failures and passes. It counts as a failure; otherwise the list would go stale.
enum class Verdict { pass, fail, note, not_claimed, expected_failure, unexpected_pass };
std::string_view name(Verdict verdict);

struct RequirementResult {
  std::string id;
  std::string sentence;
  bool is_must = true;
  Verdict verdict = Verdict::not_claimed;
  std::int64_t cases = 0;        // executed
  std::int64_t failed = 0;       // of these
  std::optional<Finding> worst;  // the finding that used most of its bound
  std::string worst_case;        // as text
  std::optional<Failure> failure;
  std::string reason;     // why a failure was expected
  std::string undecided;  // why the first undecided case could not be judged; undecided cases are not counted
  double seconds = 0;
  double kernel_seconds = 0;  // of these, spent in the kernel, as its worker measures it
};

// The kernel's measured precision in one dtype: the tightest grade that held in every case.
struct MeasuredGrade {
  DType dtype = DType::f32;
  std::string grade;   // "A1" .. "C3"; empty if not even C3 held, or if a requirement fails in this dtype
  double use = 0;      // of that grade's bound, or of C3's, by the worst element
};

// For a subject that answers with files.
struct Responses {
  std::int64_t asked_for = 0;          // files
  std::vector<std::string> missing;    // files
  std::vector<std::string> malformed;  // a sentence each
};

// Claims that a failing kernel should not make.
struct ConformsWithout {
  std::vector<std::string> claims;        // "in place", "bf16 input"
  std::vector<std::string> judged_again;  // without these claims: the requirements that failed. None did so again
};

struct SubjectReport {
  std::string subject;
  Selection selection;
  std::vector<RequirementResult> results;
  std::vector<MeasuredGrade> grades;
  std::vector<Horizon> horizons;
  std::vector<std::string> permitted_variants;
  std::string claims_note;                          // Subject::claims_note()
  std::optional<ConformsWithout> conforms_without;  // if it does not conform and this was asked for
  std::optional<Diagnosis> diagnosis;  // if it does not conform and a diagnosis was asked for
  std::optional<Responses> responses;
  std::int64_t calls = 0;
  double seconds = 0;
  bool interrupted = false;
  std::string missing_claim;     // why no case was executed, if a claim is the reason
  bool only_position_0 = false;  // the claims allow no other, so nothing was turned

  std::int64_t executed() const;  // cases
  double kernel_seconds() const;  // for the requirements
  std::int64_t count(Verdict verdict) const;
  bool conforms() const;     // some case was executed, none failed, nothing was cut short
  bool as_expected() const;  // the same, except for expected failures; all of those occurred
};

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
  std::size_t jobs = 1;              // the report is the same for every number but for its times
  const Manifest* golden = nullptr;  // null: the golden requirements are not run
  std::function<void(const Progress&)> progress;  // by any thread, one at a time
  const std::atomic<bool>* stop = nullptr;  // set from a signal handler
};

// In the order of `requirements`. Where the subject has an opener, a few processes share the requirements (lanes.hpp).
SubjectReport run_suite(Subject& subject, Oracles& oracles, std::span<const Requirement> requirements,
                        const SuiteOptions& options);

// Only one case, not shrunk. Throws InputError if the subject does not claim it.
Finding replay(const Requirement& requirement, const Case& c, Subject& subject, Oracles& oracles,
               const Manifest* golden, Grade required = {});

}  // namespace rope
