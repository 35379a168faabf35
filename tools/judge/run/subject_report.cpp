#include "tools/judge/run/subject_report.hpp"

#include <algorithm>

namespace rope {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass: return "pass";
    case Verdict::fail: return "fail";
    case Verdict::note: return "note";
    case Verdict::not_claimed: return "not claimed";
    case Verdict::no_case: return "no case";
    case Verdict::expected_failure: return "expected failure";
    case Verdict::unexpected_pass: return "unexpected pass";
    case Verdict::not_judged: return "not judged";
  }
  return "?";
}

// A call that crashed, or that was wrong on purpose, has no results. A golden case has its positions in files.
void RequirementResult::note_position(const Case& c, const Finding& finding) {
  const bool has_results = finding.passed() || is_of_values(finding.kind);
  if (!has_results || c.fault != Fault::none || !c.golden.empty() || c.seq == 0 || c.batch == 0) return;
  largest_position = std::max(largest_position.value_or(0), rope::largest_position(c));
}

std::int64_t SubjectReport::executed() const {
  std::int64_t sum = 0;
  for (const RequirementResult& result : results) sum += result.cases;
  return sum;
}

double SubjectReport::kernel_seconds() const {
  double sum = 0;
  for (const RequirementResult& result : results) sum += result.kernel_seconds;
  return sum;
}

std::int64_t SubjectReport::left_out() const {
  std::int64_t sum = 0;
  for (const RequirementResult& result : results) sum += result.left_out;
  return sum;
}

std::int64_t SubjectReport::in_part() const {
  return std::ranges::count_if(
      results, [](const RequirementResult& r) { return r.left_out > 0 && r.verdict != Verdict::not_judged; });
}

std::int64_t SubjectReport::count(Verdict verdict) const {
  return std::count_if(results.begin(), results.end(),
                       [=](const RequirementResult& r) { return r.verdict == verdict; });
}

bool SubjectReport::fails_only_by_lack_of_support() const {
  if (!unsupported) return false;
  const std::vector<std::string>& ids = unsupported->requirements;
  return std::ranges::all_of(results, [&](const RequirementResult& r) {
    return r.verdict != Verdict::fail || std::ranges::find(ids, r.id) != ids.end();
  });
}

bool SubjectReport::conforms() const {
  return executed() > 0 && count(Verdict::fail) + count(Verdict::expected_failure) + left_out() == 0 && !interrupted;
}

bool SubjectReport::as_expected() const {
  return executed() > 0 && count(Verdict::fail) + count(Verdict::unexpected_pass) + left_out() == 0 && !interrupted;
}

}  // namespace rope
