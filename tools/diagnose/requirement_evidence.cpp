// Evidence from failed requirements: a requirement that is the only one to fail speaks for a class.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "tools/diagnose/model.hpp"
#include "tools/diagnose/other_evidence.hpp"
#include "tools/judge/run/explain.hpp"

namespace rope::diagnosis {
namespace {

// Shown by the bytes afterwards. If a guard page ended the call, its access tells the class (from_answers).
bool is_writing(const RequirementResult& r) {
  const Finding& finding = r.failure->finding;
  return finding.kind == FailureKind::misbehaviour && !finding.access && !finding.breaks_mode;
}

enum class By { value, writing, status, any };  // the failures that count
enum class Adds {                            // to the sentence
  nothing,
  message,  // the failure's
  rule,     // the only one that fails
  copied,   // what became of a feature that should be copied, or of a result beyond its type's range
  special,  // the same, or what became of a NaN or an infinity
};

// What a requirement speaks for if only it fails.
struct Spoke {
  std::string_view requirements;  // ids or families, separated by spaces
  BugClass bug_class;
  const char* sentence;
  By by = By::value;
  Adds adds = Adds::nothing;
  bool is_guess = false;  // names a usual cause, which was not tested
};

// The most telling first.
constexpr BugClass of_memory = BugClass::strides_memory_race;
constexpr Spoke spoke_rows[] = {
    {"DET-01", of_memory, different_each_time},
    {"SHP-01", BugClass::launch_limits, "tokens, batches or heads beyond a limit of the launch are left out", By::value,
     Adds::nothing, true},
    {"SHP-02", BugClass::launch_limits, "features beyond a limit of the launch are left out", By::value, Adds::nothing,
     true},
    {"SHP-08", BugClass::launch_limits, "tokens, batches or heads next to a multiple of a block's size are left out",
     By::value, Adds::nothing, true},
    {"SHP-01 SHP-02 SHP-08", BugClass::launch_limits, "calls beyond a limit of the launch are refused", By::status,
     Adds::message},
    {"MEM-06", of_memory, "element offsets are computed in 32 bits", By::any, Adds::message, true},
    {"MEM-02", of_memory, "an input is written to", By::writing, Adds::message},
    {"MEM-03", of_memory, "gaps between rows are written to", By::writing, Adds::message},
    {"MEM-01", of_memory, "memory outside the tensors is read or written", By::any, Adds::message},
    {"MEM-07", of_memory, "device memory or barriers are used wrongly, though the results are right", By::any,
     Adds::message},
    {"SHP-06", BugClass::varlen_packing_cp, "a call without batches, tokens or heads fails", By::any},
    {"SPC", BugClass::special_values, "zeros, NaN, infinities, very large or very small inputs are handled wrongly",
     By::value, Adds::special},
    {"ROT-09", BugClass::special_values,
     "pass-through features that are -0, subnormal or very large are not copied exactly", By::value, Adds::copied},
    {"DET-03", BugClass::table_cache, "two calls at the same time share memory that each needs for itself"},
    {"ROT-13", BugClass::precision, "results are rounded in one direction"},
    {"ROT-03", BugClass::precision,
     "pairs change their length though their angles are within the bound: cos and sin, or the two features of a pair, "
     "have different angles",
     By::value, Adds::nothing, true},
    {"ROT-11 ROT-12 POS-05 SHP-07 DET-02 MEM-05", BugClass::precision,
     "the last bits depend on how the call is made: code paths round in different orders", By::value, Adds::nothing,
     true},
    {"BWD", BugClass::backward, "the backward pass is not the transpose of the forward one"},
    {"MEM", of_memory, "memory is addressed wrongly", By::writing, Adds::message},
    {"POS", BugClass::position_offset, "tokens are rotated by wrong positions", By::value, Adds::nothing, true},
    {"ANG", BugClass::precision, "angles are wrong at positions or parameters that only these cases have", By::value,
     Adds::rule, true},
};

bool names(const Spoke& row, std::string_view id) {
  for (std::size_t from = 0; from < row.requirements.size();) {
    const std::size_t to = std::min(row.requirements.find(' ', from), row.requirements.size());
    const std::string_view named = row.requirements.substr(from, to - from);
    if (id == named || (named.find('-') == named.npos && id.starts_with(named))) return true;
    from = to + 1;
  }
  return false;
}

bool counts(const Spoke& row, const RequirementResult& r) {
  if (r.verdict != Verdict::fail || !r.failure || !names(row, r.id)) return false;
  // What raises says nothing about memory, limits or empty calls (from_exceptions).
  if (r.failure->finding.kind == FailureKind::exception) return false;
  if (r.failure->finding.breaks_mode) return false;  // from_mode
  if (row.by == By::status) return r.failure->finding.kind == FailureKind::status;
  return row.by == By::any || fails_by_value(r) || (row.by == By::writing && is_writing(r));
}

// The scaling rule of all failures, if cases without it hold. nullptr: there is no such rule.
const Scaling* rule_that_fails(const Observations& seen) {
  const Scaling* rule = nullptr;
  bool unscaled_holds = false;
  for (const auto& one : seen) {
    const Scaling& scaling = one->c.spec.scaling;
    const bool unscaled = std::holds_alternative<scaling::None>(scaling);
    unscaled_holds = unscaled_holds || (unscaled && !one->failed());
    if (!one->failed()) continue;
    if (unscaled || (rule != nullptr && rule->index() != scaling.index())) return nullptr;
    rule = &scaling;
  }
  return unscaled_holds ? rule : nullptr;
}

bool is_nan(const Finding& finding) { return finding.element && std::isnan(finding.element->actual); }

// A number that its type holds only as an infinity came out as another one.
std::optional<std::string> words_of_range(const Element& element) {
  const bool fits = std::isfinite(rounded(element.dtype, element.expected));
  if (fits || !std::isfinite(element.expected) || !std::isfinite(element.actual)) return std::nullopt;
  return fmt::format("results beyond the range of {} come out as {:.6g}, not as infinities", name(element.dtype),
                     element.actual);
}

// The worst one: a value and what it became.
std::optional<std::string> words_of_copy(const Element& element) {
  if (auto words = words_of_range(element)) return words;
  if (element.pair) return std::nullopt;
  return fmt::format("pass-through features are not copied bit for bit: {:.6g} comes out as {:.6g}", element.expected,
                     element.actual);
}

// What became of a NaN or an infinity, or that one came out of numbers. nullopt: neither.
std::optional<std::string> words_of_special(const Element& element) {
  if (auto words = words_of_range(element)) return words;
  const double expected = element.expected, actual = element.actual;
  if (!element.pair) return "pass-through features are not copied bit for bit: they are computed with";
  if (std::isnan(expected) && actual == 0) return "NaN is replaced by 0";
  if (std::isnan(expected) && !std::isnan(actual)) return fmt::format("NaN is replaced by a number, {:.6g}", actual);
  if (std::isinf(expected) && std::isfinite(actual)) {
    return std::fabs(actual) >= 65504 ? fmt::format("infinities are replaced by a finite number, {:.6g}", actual)
                                      : fmt::format("an infinite result is a finite number, {:.6g}", actual);
  }
  if (std::isfinite(expected) && std::isnan(actual)) {
    return "a NaN or an infinity in one feature makes other features NaN: they are multiplied by 0, not left out";
  }
  if (std::isfinite(expected) && std::isinf(actual)) return "finite results come out infinite";
  return std::nullopt;
}

// Where it fails: a formula that divides 0 by 0 does so for few parameters.
std::string parameters_of(const RequirementResult& r) {
  return fmt::format("it is so with {}", to_flags(r.failure->minimal.spec));
}

void add_to(Pointer& pointer, const Spoke& row, const RequirementResult& first, const Scaling* rule) {
  const Finding& finding = first.failure->finding;
  if (row.adds == Adds::message && !finding.message.empty()) {
    pointer.quoted = headline(finding.message);
    pointer.candidate.sentence += ": " + pointer.quoted;
  }
  if (row.adds == Adds::rule && rule != nullptr) {
    pointer.candidate.bug_class = BugClass::scaling_config;
    pointer.candidate.sentence = fmt::format(
        "{}: {}", kind_of(*rule),
        is_nan(finding) ? fmt::format("results are NaN, as if the formula divided 0 by 0; {}", parameters_of(first))
                        : std::string("the angles do not follow the rule"));
  }
  if ((row.adds == Adds::copied || row.adds == Adds::special) && finding.element) {
    const bool any = row.adds == Adds::special;
    auto words = any ? words_of_special(*finding.element) : words_of_copy(*finding.element);
    if (words) pointer.candidate.sentence = std::move(*words);
  }
}

// nullopt: none of the row's requirements failed in a way that counts.
std::optional<Pointer> pointer_of(const Spoke& row, const SubjectReport& report, const Scaling* rule) {
  Pointer pointer{{row.bug_class, row.sentence, "", 0}, {}, "", row.is_guess};
  const RequirementResult* first = nullptr;
  for (const RequirementResult& r : report.results) {
    if (!counts(row, r)) continue;
    if (first == nullptr) first = &r;
    pointer.requirements.push_back(r.id);
  }
  if (first == nullptr) return std::nullopt;
  add_to(pointer, row, *first, rule);
  return pointer;
}

// Calls that leave the thread's floating-point mode changed. Flush to zero shows in the caller's own numbers.
std::optional<Pointer> from_mode(const SubjectReport& report) {
  Pointer pointer{{BugClass::special_values, "", "", 1}, {}, ""};
  for (const RequirementResult& r : report.results) {
    if (r.verdict != Verdict::fail || !r.failure || !r.failure->finding.breaks_mode) continue;
    if (pointer.requirements.empty()) pointer.candidate.sentence = headline(r.failure->finding.message);
    pointer.requirements.push_back(r.id);
  }
  return pointer.requirements.empty() ? std::nullopt : std::optional(std::move(pointer));
}

// Most requirements fail because calls write where they must not, whatever the values: on a device, which no guard page
// stops. nullopt: most fail otherwise, so only MEM's own requirements say something.
std::optional<Pointer> from_writes(const SubjectReport& report) {
  Pointer pointer{{of_memory, "", "", 1}, {}, ""};
  for (const RequirementResult& r : report.results) {
    if (r.verdict != Verdict::fail || !r.failure || !is_writing(r)) continue;
    if (pointer.requirements.empty()) pointer.quoted = headline(r.failure->finding.message);
    pointer.requirements.push_back(r.id);
  }
  if (2 * pointer.requirements.size() <= static_cast<std::size_t>(report.count(Verdict::fail))) return std::nullopt;
  pointer.candidate.sentence = pointer.quoted;
  return pointer;
}

// Sets the share of the failures that each explains.
void weigh_by_failures(std::vector<Pointer>& found, const SubjectReport& report) {
  const auto failures = std::max<std::int64_t>(report.count(Verdict::fail), 1);
  for (Pointer& p : found) {
    p.candidate.fit = static_cast<double>(p.requirements.size()) / static_cast<double>(failures);
  }
}

}  // namespace

std::vector<Pointer> from_requirements(const SubjectReport& report, const Observations& seen, Examiner& examiner) {
  std::vector<Pointer> found;
  if (auto state = from_state(report, examiner)) found.push_back(std::move(*state));
  if (auto mode = from_mode(report)) found.push_back(std::move(*mode));
  if (auto writes = from_writes(report)) found.push_back(std::move(*writes));
  const Scaling* rule = rule_that_fails(seen);
  for (const Spoke& row : spoke_rows) {
    if (auto pointer = pointer_of(row, report, rule)) found.push_back(std::move(*pointer));
  }
  if (auto faults = from_faults(report, examiner)) found.push_back(std::move(*faults));
  weigh_by_failures(found, report);
  return found;
}

}  // namespace rope::diagnosis
