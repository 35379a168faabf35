// Evidence from failures that need earlier calls: which ones failed, and what the earlier calls left behind.
#include <fmt/format.h>

#include <algorithm>

#include "tools/diagnose/kept_parameters.hpp"
#include "tools/diagnose/other_evidence.hpp"
#include "tools/diagnose/simulation.hpp"

namespace rope::diagnosis {
namespace {

// A failure that needs earlier calls; the first whose case names them, if there is one.
const RequirementResult* failed_by_state(const SubjectReport& report) {
  const RequirementResult* state = failed_by_value(report, "STA-01");
  for (const RequirementResult& r : report.results) {
    if (r.verdict != Verdict::fail || !r.failure || !r.failure->needs_earlier_calls) continue;
    if (!r.failure->minimal.before.empty()) return &r;
    if (state == nullptr) state = &r;
  }
  return state;
}

// All failures of STA-01 and those that need earlier calls.
std::vector<std::string> failures_by_state(const SubjectReport& report) {
  const RequirementResult* state = failed_by_value(report, "STA-01");
  std::vector<std::string> ids;
  for (const RequirementResult& r : report.results) {
    const bool failed = r.verdict == Verdict::fail && r.failure;
    if (failed && (r.failure->needs_earlier_calls || &r == state)) ids.push_back(r.id);
  }
  return ids;
}

// What may be kept of the earlier calls, and used in the place of the call's own.
struct Kept {
  const char* sentence;
  std::int64_t (*length)(std::span<const std::int64_t> earlier, std::int64_t own);
};

constexpr Kept kept_lengths[] = {
    {"{}: the longest sequence_length of all calls so far is used, not this call's",
     [](std::span<const std::int64_t> earlier, std::int64_t own) { return std::max(own, std::ranges::max(earlier)); }},
    {"{}: the sequence_length of the first call is used, not this call's",
     [](std::span<const std::int64_t> earlier, std::int64_t) { return earlier.front(); }},
    {"{}: the sequence_length of the call before is used, not this call's",
     [](std::span<const std::int64_t> earlier, std::int64_t) { return earlier.back(); }},
};

// The case with its earlier calls made, and the length of each of them.
struct AfterCalls {
  std::vector<std::int64_t> lengths;
  std::unique_ptr<Observation> seen;

  bool is_predicted_by(const Kept& kept) const {
    Change change;
    change.params = [&](const Call&, Params& p) { p.sequence_length = kept.length(lengths, p.sequence_length); };
    return std::ranges::all_of(simulate(*seen, change, {}).rows, &RowCount::agrees);
  }
};

AfterCalls after_calls(const Case& c, Examiner& examiner) {
  AfterCalls result;
  for (const Case& one : earlier_cases(c)) result.lengths.push_back(examiner.build(one).sequence_length);
  examiner.make_earlier_calls(c);
  Case alone = c;
  alone.before.clear();
  result.seen = observe(alone, examiner);
  return result;
}

// The same case after three calls of other lengths, in which first, longest and last are not the same.
std::optional<Case> parting(const Case& c, const Claims& claims) {
  const auto original = static_cast<std::int64_t>(original_length(c.spec.scaling));
  if (4 * original >= claims.capabilities.max_position) return std::nullopt;
  Case result = c;
  result.seq = std::max(result.seq, 2);  // nothing shows at position 0
  result.before.clear();
  for (const std::int64_t start : {2 * original, 4 * original, 3 * original})
    result.before.push_back({c.dtype, 1, start});
  return result;
}

// The sentence of what was kept, if it predicts every row. Where the calls that spoiled the case are not known, only
// other calls can show it.
std::optional<std::string> kept_by(const Case& c, Examiner& examiner) {
  if (!follows_length(c.spec.scaling) || c.source != AngleSource::computed) return std::nullopt;
  std::vector<AfterCalls> all;
  if (!c.before.empty()) all.push_back(after_calls(c, examiner));
  if (!all.empty() && !all[0].seen->failed()) return std::nullopt;
  if (const auto other = parting(c, examiner.subject().claims())) all.push_back(after_calls(*other, examiner));
  const auto answered = [](const AfterCalls& one) { return one.seen->answered(); };
  const auto failed = [](const AfterCalls& one) { return one.seen->failed(); };
  if (!std::ranges::all_of(all, answered) || std::ranges::none_of(all, failed)) return std::nullopt;
  for (const Kept& kept : kept_lengths) {
    if (!std::ranges::all_of(all, [&](const AfterCalls& one) { return one.is_predicted_by(kept); })) continue;
    return fmt::format(fmt::runtime(kept.sentence), kind_of(c.spec.scaling));
  }
  return std::nullopt;
}

// Whether the case still fails after its earlier calls, changed by `edit`.
bool fails_after(Case c, Examiner& examiner, void (*edit)(const Case&, EarlierCall&)) {
  for (EarlierCall& call : c.before) edit(c, call);
  const AfterCalls after = after_calls(c, examiner);
  return after.seen->answered() && after.seen->failed();
}

// In what an earlier call must differ to spoil this one, as far as one change can tell: its dtype, its place or its
// length.
std::string words_of_earlier(const Case& c, Examiner& examiner) {
  const auto spoils = [&](void (*edit)(const Case&, EarlierCall&)) { return fails_after(c, examiner, edit); };
  if (c.before.empty() || examiner.subject().claims().starts_slowly()) return "an earlier call";
  const std::optional<DType> other = other_dtype_before(c);
  if (other && !spoils([](const Case& own, EarlierCall& call) { call.dtype = own.dtype; })) {
    return fmt::format("an earlier {} call", name(*other));
  }
  const bool by_place = spoils([](const Case& own, EarlierCall& call) { call = {own.dtype, own.seq, call.start}; });
  const bool by_length = spoils([](const Case& own, EarlierCall& call) { call = {own.dtype, call.seq, own.start}; });
  if (by_place == by_length) return "an earlier call";
  return by_place ? "an earlier call at other positions" : "an earlier call with another number of tokens";
}

// The cases of the failures that need earlier calls; the first is `state`'s. Few: each is made many times.
std::vector<Case> cases_of_state(const SubjectReport& report, const RequirementResult& state) {
  constexpr std::size_t most = 6;
  std::vector<Case> cases{state.failure->minimal};
  for (const RequirementResult& r : report.results) {
    const bool failed = r.verdict == Verdict::fail && r.failure && r.failure->minimal.golden.empty();
    if (failed && &r != &state && r.failure->needs_earlier_calls) cases.push_back(r.failure->minimal);
  }
  if (cases.size() > most) cases.resize(most);
  return cases;
}

using Words = std::optional<std::string> (*)(const Case& c, Examiner& examiner);

// A shrunk case names only the calls that it needs to fail.
std::string words_of_state(const SubjectReport& report, const RequirementResult& state, Examiner& examiner) {
  const Case& c = state.failure->minimal;
  if (const auto kept = kept_by(c, examiner)) return *kept;
  for (const Words words : {words_of_kept_parameters, words_of_added_rows}) {
    for (const Case& failing : cases_of_state(report, state)) {
      if (const auto found = words(failing, examiner)) return *found;
    }
  }
  return fmt::format("the result depends on what {} left behind", words_of_earlier(c, examiner));
}

}  // namespace

std::optional<Pointer> from_state(const SubjectReport& report, Examiner& examiner) {
  const RequirementResult* state = failed_by_state(report);
  if (state == nullptr) return std::nullopt;
  return Pointer{{BugClass::table_cache, words_of_state(report, *state, examiner), "", 1},
                 failures_by_state(report), ""};
}

}  // namespace rope::diagnosis
