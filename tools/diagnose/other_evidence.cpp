#include "tools/diagnose/other_evidence.hpp"

#include <algorithm>
#include <functional>

#include "tools/diagnose/cause_class.hpp"
#include "tools/judge/run/explain.hpp"

namespace rope::diagnosis {

bool fails_by_value(const RequirementResult& r) {
  return r.failure && is_of_values(r.failure->finding.kind);
}

const RequirementResult* failed_by_value(const SubjectReport& report, std::string_view id) {
  for (const RequirementResult& r : report.results) {
    const bool failed = r.verdict == Verdict::fail || r.verdict == Verdict::expected_failure;
    if (r.id == id && failed && fails_by_value(r)) return &r;
  }
  return nullptr;
}

namespace {

// The class of unanswered calls: memory, unless the kernel refused them or only tables are far apart.
BugClass class_of_answers(const Finding& first, const Condition& condition, const std::vector<SeenRow>& with) {
  // If rows are far apart in the tables but not in the tensors, the index of a table row is wrong.
  if (std::all_of(with.begin(), with.end(), [](const SeenRow& row) {
        return is_distant(row.seen->c.layout) && !distant_dimension(row.seen->c.layout);
      })) {
    return BugClass::table_cache;
  }
  if (first.kind != FailureKind::status) return BugClass::strides_memory_race;
  if (const auto spoken_for = class_of_condition(condition)) return *spoken_for;
  // A kernel that answers ROPE_FAILED did not refuse the call; its device, or its memory, failed.
  return first.status == ROPE_FAILED ? BugClass::strides_memory_race : BugClass::bad_arguments;
}

}  // namespace

std::optional<Pointer> from_answers(const SubjectReport& report, const Observations& seen) {
  std::vector<SeenRow> with, without;
  const Finding* first = nullptr;
  double wrong = 0;
  for (const auto& one : seen) {
    const bool ended = !one->answered() && one->problem.kind != FailureKind::exception;
    (ended ? with : without).push_back({one.get(), 0, 1, true});
    if (ended && first == nullptr) first = &one->problem;
    wrong += one->failed() ? 1 : 0;
  }
  if (first == nullptr) return std::nullopt;
  const Condition condition = separate(with, without);
  const std::string quoted = headline(first->message);
  Pointer pointer{{class_of_answers(*first, condition, with), quoted, words_of(condition),
                   static_cast<double>(with.size()) / std::max(wrong, 1.0)},
                  {},
                  quoted};
  for (const RequirementResult& r : report.results) {
    if (r.verdict != Verdict::fail || !r.failure || r.failure->finding.kind == FailureKind::exception) continue;
    if (!fails_by_value(r)) pointer.requirements.push_back(r.id);
  }
  return pointer;
}

namespace {

using Bytes = SharedBytes;

// The results of one call, made several times one after the other; empty where it was not answered.
std::vector<std::pair<Bytes, Bytes>> repetitions_of(const Observation& one, Examiner& examiner) {
  const int repetitions = examiner.subject().claims().compiled ? 40 : 4;  // a race may be rare
  std::vector<std::pair<Bytes, Bytes>> results;
  for (int i = 0; i < repetitions; ++i) {
    const Trial again = examiner.run(one.before);
    if (!again.ok()) return {};
    results.emplace_back(again.call.q_result().bytes, one.before.k ? again.call.k_result().bytes : Bytes{});
  }
  return results;
}

bool are_alike(const std::vector<std::pair<Bytes, Bytes>>& results) {
  return std::ranges::all_of(results, [&](const auto& one) { return one == results.front(); });
}

// Whether two new processes give the same results, which change from call to call. A race may give the right ones in
// all.
bool repeats_in_new_processes(const Observation& one, Examiner& examiner) {
  if (!examiner.subject().renew()) return false;
  const auto first = repetitions_of(one, examiner);
  return !first.empty() && !are_alike(first) && examiner.subject().renew() && repetitions_of(one, examiner) == first;
}

}  // namespace

Repeated repeated(const SubjectReport& report, const Observations& seen, Examiner& examiner) {
  constexpr std::size_t most_tried = 8, fewest_elements = 16;
  std::vector<const Observation*> failed;
  for (const auto& one : seen) {
    if (one->failed() && one->answered() && one->elements() >= fewest_elements) failed.push_back(one.get());
  }
  // A race shows most often in large calls.
  std::ranges::stable_sort(failed, std::greater{}, &Observation::elements);
  if (failed.size() > most_tried) failed.resize(most_tried);
  for (const Observation* one : failed) {
    // Another call came before the first of them; only the later ones follow the same call.
    auto results = repetitions_of(*one, examiner);
    if (!results.empty()) results.erase(results.begin());
    if (are_alike(results)) continue;
    return repeats_in_new_processes(*one, examiner) ? Repeated::changing : Repeated::irregular;
  }
  return failed_by_value(report, "DET-01") != nullptr ? Repeated::irregular : Repeated::same;
}

bool needs_unusual_inputs(const Observations& seen) {
  bool some_fail = false, others_hold = false;
  for (const auto& one : seen) {
    const bool unusual = is_of_unusual_size(one->c.input);
    if (one->failed() && !unusual) return false;
    some_fail = some_fail || one->failed();
    others_hold = others_hold || !unusual;
  }
  return some_fail && others_hold;
}

bool depends_on_earlier_calls(const SubjectReport& report, const Observations& seen, Examiner& examiner) {
  std::size_t needed = 0;
  for (const RequirementResult& r : report.results) {
    if (r.verdict != Verdict::fail || !r.failure || r.failure->finding.kind != FailureKind::value) continue;
    needed += r.failure->needs_earlier_calls ? 1 : 0;
  }
  if (failed_by_value(report, "STA-01") == nullptr && needed == 0) return false;
  std::size_t tried = 0, alone = 0;
  for (const auto& one : seen) {
    if (!one->failed() || !one->answered() || tried == 6) continue;
    if (!examiner.subject().renew()) return false;
    ++tried;
    const std::unique_ptr<Observation> again = observe(one->c, examiner);
    alone += again->failed() ? 0 : 1;
  }
  return tried == 0 ? needed > 0 : 2 * alone > tried;
}

}  // namespace rope::diagnosis
