// What a kernel raises: a class of its own, told with the exception's own words.
#include <fmt/format.h>

#include <algorithm>

#include "tools/diagnose/other_evidence.hpp"

namespace rope::diagnosis {
namespace {

bool raises(const RequirementResult& r) {
  return r.verdict == Verdict::fail && r.failure && r.failure->finding.kind == FailureKind::exception;
}

std::string sentence_of(const Raised& raised) {
  const std::string place = raised.place.empty() ? "" : fmt::format(" ({})", raised.place);
  if (!raised.in_adapter) return fmt::format("the kernel raises {}{}", raised.what, place);
  return fmt::format("the adapter's code, not the kernel's, raises {}{}", raised.what, place);
}

}  // namespace

std::optional<Pointer> from_exceptions(const SubjectReport& report, const Observations& seen) {
  std::vector<SeenRow> with, without;
  std::optional<Raised> first;
  double wrong = 0;
  for (const auto& one : seen) {
    const bool raised = one->problem.kind == FailureKind::exception;
    (raised ? with : without).push_back({one.get(), 0, 1, true});
    if (raised && !first) first = one->problem.raised;
    wrong += one->failed() ? 1 : 0;
  }
  std::vector<std::string> requirements;
  for (const RequirementResult& r : report.results) {
    if (!raises(r)) continue;
    if (!first) first = r.failure->finding.raised;  // only in calls that are not observed, such as one without tokens
    requirements.push_back(r.id);
  }
  if (!first) return std::nullopt;
  const auto failures = static_cast<double>(std::max<std::int64_t>(report.count(Verdict::fail), 1));
  const double fit = with.empty() ? static_cast<double>(requirements.size()) / failures
                                  : static_cast<double>(with.size()) / std::max(wrong, 1.0);
  const Condition condition = without_open_limits(separate(with, without), without);
  return Pointer{{BugClass::exception, sentence_of(*first), words_of(condition), fit}, requirements, ""};
}

}  // namespace rope::diagnosis
