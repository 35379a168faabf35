// The suite: every requirement on one subject. What comes out is data; tools/report writes it down.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/case_list.hpp"
#include "tests/conformance/examiner.hpp"
#include "tests/conformance/requirement.hpp"

namespace rope {

enum class Verdict { pass, fail, not_claimed };
std::string_view name(Verdict verdict);

// A case that does not hold, shrunk as far as it goes.
struct Failure {
  Case minimal;
  Finding finding;         // of the minimal case
  std::string first_seen;  // the case that failed first, as text
};

struct RequirementResult {
  std::string id;
  std::string sentence;
  Verdict verdict = Verdict::not_claimed;
  std::int64_t cases = 0;        // executed
  std::int64_t failed = 0;       // of these
  std::optional<Finding> worst;  // the one that used most of its bound
  std::string worst_case;        // as text
  std::optional<Failure> failure;
};

// How precise the kernel was found to be in one dtype: the tightest grade that held in every case.
struct MeasuredGrade {
  DType dtype = DType::f32;
  std::string grade;  // "A1" .. "C3"; empty where not even C3 held
  double use = 0;     // of that grade's bound, by the worst element
};

struct SubjectReport {
  std::string subject;
  Selection selection;
  std::vector<RequirementResult> results;
  std::vector<MeasuredGrade> grades;
  std::int64_t calls = 0;
  double seconds = 0;
  bool interrupted = false;

  std::int64_t executed() const;  // cases
  bool conforms() const;          // some case was executed, none failed, nothing was cut short
};

struct SuiteOptions {
  Selection selection;
  const Manifest* golden = nullptr;  // null: the golden requirements are not run
  std::function<void(const RequirementResult& done_so_far, std::size_t index, std::size_t count)> progress;
  const std::atomic<bool>* stop = nullptr;  // set from a signal handler
};

SubjectReport run_suite(Subject& subject, Oracles& oracles, const SuiteOptions& options);

// One case alone, not shrunk.
Finding replay(const Case& c, Subject& subject, Oracles& oracles, const Manifest* golden);

}  // namespace rope
