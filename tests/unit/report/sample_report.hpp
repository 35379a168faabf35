// A report with one of everything: verdicts, kinds of failure, numbers that are not finite, a path that needs quotes.
#pragma once

#include <limits>

#include "tests/conformance/suite.hpp"

namespace rope {

inline RequirementResult judged(const std::string& id, Verdict verdict, std::int64_t cases, std::int64_t failed) {
  RequirementResult result;
  result.id = id;
  result.sentence = "What " + id + " says MUST hold.";
  result.verdict = verdict;
  result.cases = cases;
  result.failed = failed;
  return result;
}

inline Finding worst(double use, double expected, double actual, double error, double bound) {
  Finding finding;
  finding.use = use;
  finding.compared = 8;
  Element e;
  e.tensor = "q";
  e.row = {1, 2, 0};
  e.feature = 3;
  e.pair = 1;
  e.position = 1026;
  e.phi = 10.25;
  e.expected = expected;
  e.actual = actual;
  e.actual_bits = 0x3ee8c7b6;
  e.error = error;
  e.bound = bound;
  finding.element = e;
  return finding;
}

inline Failure failure_of(const std::string& minimal, Finding finding) {
  return {case_from_text(minimal), std::move(finding), minimal + ",batch=3"};
}

inline SubjectReport sample_report() {
  const double infinity = std::numeric_limits<double>::infinity();
  SubjectReport report;
  report.subject = "my lib.so#kernel";
  report.selection.level = Level::quick;
  report.selection.seed = 7;
  report.calls = 1234;
  report.seconds = 1.25;

  RequirementResult wrong = judged("ROT-01", Verdict::fail, 411, 105);
  wrong.worst = worst(3.24e6, 0.841470957, 0.454648674, 0.387, 1.19e-7);
  wrong.worst_case = "ROT-01:head_dim=4,seq=3,batch=2";
  Finding value = *wrong.worst;
  value.kind = FailureKind::value;
  value.wrong = 2;
  wrong.failure = failure_of("ROT-01:head_dim=4,seq=3,batch=2,in_place=1", value);

  RequirementResult exact = judged("ROT-02", Verdict::pass, 80, 0);
  exact.worst = worst(0, 1, 1, 0, 1e-7);
  exact.worst_case = "ROT-02:head_dim=4,seq=3,batch=2";

  RequirementResult close = judged("ROT-03", Verdict::pass, 1152, 0);
  close.worst = worst(0.625, 1, 1.0000001, 6.25e-8, 1e-7);
  close.worst_case = "ROT-03:head_dim=4,seq=3,batch=2,dtype=bf16";

  const RequirementResult without_worst = judged("ROT-10", Verdict::pass, 9, 0);
  const RequirementResult not_claimed = judged("BWD-01", Verdict::not_claimed, 0, 0);

  RequirementResult endless = judged("ANG-01", Verdict::fail, 5, 1);
  endless.worst = worst(infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), infinity, 1e-7);
  endless.worst_case = "ANG-01:head_dim=4,seq=3,batch=2";
  Finding not_a_number = *endless.worst;
  not_a_number.kind = FailureKind::value;
  endless.failure = failure_of("ANG-01:head_dim=4,seq=3,batch=2", not_a_number);

  RequirementResult refused = judged("POS-01", Verdict::fail, 3, 3);
  Finding status;
  status.kind = FailureKind::status;
  status.message = "the kernel answered unsupported to a call that it claims";
  refused.failure = failure_of("POS-01:head_dim=4", status);

  report.results = {wrong, exact, close, without_worst, not_claimed, endless, refused};
  report.grades = {{DType::f32, "A1", 0.97}, {DType::bf16, "", infinity}};
  return report;
}

// The same subject, had it been right.
inline SubjectReport right_report() {
  SubjectReport report = sample_report();
  std::erase_if(report.results, [](const RequirementResult& r) { return r.verdict == Verdict::fail; });
  report.grades.pop_back();
  return report;
}

}  // namespace rope
