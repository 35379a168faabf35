// What a run of the suite gave for one subject, as data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/judge/case/case_list.hpp"
#include "tools/judge/run/budget.hpp"
#include "tools/judge/run/claims_asked.hpp"
#include "tools/judge/run/diagnosis.hpp"
#include "tools/judge/run/grade_use.hpp"
#include "tools/judge/run/heatmap.hpp"
#include "tools/judge/run/horizon.hpp"
#include "tools/judge/run/shrink.hpp"
#include "tools/judge/run/tried.hpp"
#include "tools/judge/run/unsupported_calls.hpp"

namespace rope {

// A note is a SHOULD that does not hold and that nobody demanded. An unexpected pass is on the list of expected
// failures and passes. It counts as a failure; otherwise the list would go stale. A requirement is not judged if the
// run ended, or its budget, before its first case. It is not claimed if it has no case because a claim is missing; it
// has no case for any other reason.
enum class Verdict { pass, fail, note, not_claimed, no_case, expected_failure, unexpected_pass, not_judged };
std::string_view name(Verdict verdict);

struct RequirementResult {
  std::string id;
  std::string sentence;
  bool is_must = true;
  Verdict verdict = Verdict::not_judged;
  std::int64_t cases = 0;        // executed
  std::int64_t failed = 0;       // of these
  std::int64_t left_out = 0;     // cases that the budget left no time for
  std::optional<std::int64_t> largest_position;  // of the cases that gave results
  std::optional<Finding> worst;  // the finding that used most of its bound
  std::string worst_case;        // as text
  std::optional<Failure> failure;
  std::string reason;     // why a failure was expected
  std::string lacks;      // if it is not claimed, the claims that it needs; if it has no case, why
  std::string undecided;  // why the first undecided case could not be judged; undecided cases are not counted
  double seconds = 0;
  double kernel_seconds = 0;  // of these, spent in the kernel, as its worker measures it

  void note_position(const Case& c, const Finding& finding);
  bool hangs() const { return failure && failure->finding.kind == FailureKind::timeout; }
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
  std::vector<std::string> judged_again;  // without these claims: requirements with cases. None fails
};

struct SubjectReport {
  std::string subject;
  Selection selection;
  std::vector<RequirementResult> results;
  std::vector<MeasuredGrade> grades;
  std::vector<Horizon> horizons;
  std::vector<Heatmap> heatmaps;
  std::vector<std::string> permitted_variants;
  std::vector<ClaimsAsked> claims;
  std::vector<Tried> tried;
  std::string claims_note;                          // Subject::claims_note()
  std::optional<ConformsWithout> conforms_without;  // if it does not conform and this was asked for
  std::optional<UnsupportedCalls> unsupported;      // claimed calls that the kernel does not support
  std::optional<Diagnosis> diagnosis;  // if it does not conform and a diagnosis was asked for
  std::optional<Responses> responses;
  std::int64_t calls = 0;
  std::int64_t recovered_hangs = 0;  // of these calls, with Reply::succeeded_on_retry
  double seconds = 0;
  bool interrupted = false;  // the run ended before its end
  std::string ended_by;      // what did it, in a sentence; empty: the user
  std::optional<Budget> budget;  // if there was one
  std::string missing_claim;     // why no case was executed, if a claim is the reason
  bool only_position_0 = false;  // the claims allow no other, so nothing was turned

  std::int64_t executed() const;  // cases
  double kernel_seconds() const;  // for the requirements
  std::int64_t left_out() const;    // cases
  std::int64_t in_part() const;     // requirements of which some cases were left out, not all
  std::int64_t count(Verdict verdict) const;
  bool fails_only_by_lack_of_support() const;  // and no requirement fails by anything else
  bool conforms() const;     // some case was executed, none failed, nothing was cut short or left out
  bool as_expected() const;  // the same, except for expected failures; all of those occurred
};

}  // namespace rope
