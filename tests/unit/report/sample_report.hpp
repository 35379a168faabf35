// A report with one of everything: verdicts, kinds of failure, numbers that are not finite, a path that needs quotes.
#pragma once

#include <limits>

#include "tools/judge/run/explain.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope {

inline RequirementResult judged(const std::string& id, Verdict verdict, std::int64_t cases, std::int64_t failed) {
  RequirementResult result;
  result.id = id;
  result.sentence = "What " + id + " says MUST hold.";
  result.verdict = verdict;
  result.cases = cases;
  result.failed = failed;
  result.seconds = 0.25;
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

// The rotation that makes sin(1).
inline Rotation sine_of_one() {
  Rotation r;
  r.source = AngleSource::computed;
  r.bits[0] = 0x3f800000;
  r.angle.cos_first = r.angle.cos_second = {0.5403023058681398, 0};
  r.angle.sin_first = r.angle.sin_second = {0.8414709848078965, 0};
  r.angle.phi = 1;
  r.theta = 1;
  r.of_second = true;
  return r;
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
  value.element->rotation = sine_of_one();
  wrong.failure = failure_of("ROT-01:head_dim=4,seq=3,batch=2,in_place=1", value);

  RequirementResult exact = judged("ROT-02", Verdict::pass, 80, 0);
  exact.worst = worst(0, 1, 1, 0, 1e-7);
  exact.worst_case = "ROT-02:head_dim=4,seq=3,batch=2";

  RequirementResult close = judged("ROT-03", Verdict::pass, 1152, 0);
  close.worst = worst(0.625, 1, 1.0000001, 6.25e-8, 1e-7);
  close.worst_case = "ROT-03:head_dim=4,seq=3,batch=2,dtype=bf16";
  close.largest_position = 2047;

  const RequirementResult without_worst = judged("ROT-10", Verdict::pass, 9, 0);
  RequirementResult not_claimed = judged("BWD-01", Verdict::not_claimed, 0, 0);
  not_claimed.lacks = "backward";

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

  RequirementResult noted = judged("POS-09", Verdict::note, 12, 2);
  noted.sentence = "What POS-09 says SHOULD hold.";
  noted.is_must = false;
  Finding otherwise = worst(2, 1, 1.0000002, 2e-7, 1e-7);
  otherwise.kind = FailureKind::repetition;
  otherwise.wrong = 2;
  noted.failure = failure_of("POS-09:head_dim=4,seq=3,batch=2", told(otherwise, "two runs of the same call"));

  RequirementResult crashed = judged("STA-01", Verdict::fail, 3, 3);
  Finding crash;
  crash.kind = FailureKind::crash;
  crash.message = "the subject read 4 bytes after the end of q";
  crashed.failure = failure_of("STA-01:head_dim=4", crash);

  report.results = {wrong, exact, close, without_worst, not_claimed, endless, refused, noted, crashed};
  report.grades = {{DType::f32, "A1", 0.97}, {DType::bf16, "", infinity}};
  report.horizons = {{DType::f64, AngleSource::computed, 1e-3, 1 << 20, 1 << 20, 1e-12},
                     {DType::f32, AngleSource::computed, 1e-3, 8192, 16384, 5e-4},
                     {DType::bf16, AngleSource::frequencies, 0.015625, -1, 512, 0}};
  report.tried = {
      {DType::f32, AngleSource::tables, 65536, 214, 2147483647, 4294967296, {2, 64, 1280}, {1, 512}, {1, 32}}};
  report.permitted_variants = {"f32 output for bf16 input", "data aligned to 64 bytes"};
  return report;
}

// The sample with one of every picture.
inline SubjectReport pictured_report() {
  SubjectReport report = sample_report();
  report.claims = {{"features", {"in place"}, {"strides"}, {"backward"}}};
  Heatmap map;
  map.dtype = DType::f32;
  map.call = "ROT-01:head_dim=4";
  map.positions = {0, 1, 2, 4};
  map.use = {{0.0, 0.25, 0.9, 2.0}, {0.0, std::nullopt, 1e9, std::numeric_limits<double>::quiet_NaN()}};
  map.grade = {DType::f32, "B2", 0.9};
  report.heatmaps = {map};
  report.horizons[0].curve = {{128, 1e-12}, {256, 2e-3}};
  Diagnosis diagnosis;
  diagnosis.candidates = {{BugClass::pairing_layout, "pairs neighbours", "only in place", 0.97},
                          {BugClass::precision, "rounds", "", 0.5}};
  diagnosis.certain = true;
  diagnosis.trigger = "in place";
  diagnosis.pairs = PairsSeen{4, {{0, 2, 1.0}, {1, 3, 0.01}}, {{0, 1, 1.0}, {2, 3, -0.5}}};
  diagnosis.wrong_rows = WrongRows{"ROT-01:head_dim=4,seq=3", {{false, 0, 0, "..x"}, {true, 1, 0, "xx."}}};
  report.diagnosis = diagnosis;
  return report;
}

// The same subject with all its failures on a list, and one entry too many.
inline SubjectReport expected_report() {
  SubjectReport report = sample_report();
  for (RequirementResult& result : report.results) {
    if (result.verdict != Verdict::fail) continue;
    result.verdict = Verdict::expected_failure;
    result.reason = "known | since May";
  }
  report.results[1].verdict = Verdict::unexpected_pass;
  report.results[1].reason = "fixed?";
  return report;
}

// The same subject, if a budget had left no time for some of its cases.
inline SubjectReport budget_report() {
  SubjectReport report = sample_report();
  std::erase_if(report.results, [](const RequirementResult& r) { return r.verdict == Verdict::fail; });
  report.budget = Budget{std::chrono::duration<double>(20), 0, {}};
  report.results[0].left_out = 48;
  report.results[2] = judged("ROT-10", Verdict::not_judged, 0, 0);
  report.results[2].left_out = 7;
  return report;
}

// The same subject, if it were right.
inline SubjectReport right_report() {
  SubjectReport report = sample_report();
  std::erase_if(report.results, [](const RequirementResult& r) { return r.failure.has_value(); });
  report.grades.pop_back();
  report.horizons.pop_back();
  return report;
}

}  // namespace rope
