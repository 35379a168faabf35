#include "tests/diagnosis/other_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/conformance/coverage.hpp"
#include "tests/conformance/explain.hpp"
#include "tests/diagnosis/bug_class.hpp"

namespace rope::diagnosis {
namespace {

const RequirementResult* failed(const SubjectReport& report, std::string_view id) {
  for (const RequirementResult& r : report.results) {
    if (r.id == id && r.failure && (r.verdict == Verdict::fail || r.verdict == Verdict::expected_failure)) return &r;
  }
  return nullptr;
}

// A call that ended its process fails every requirement, and one that writes where it must not fails most: that it
// failed this one says nothing.
bool by_value(const RequirementResult& r) {
  const FailureKind kind = r.failure ? r.failure->finding.kind : FailureKind::none;
  return kind == FailureKind::value || kind == FailureKind::unwritten || kind == FailureKind::relation ||
         kind == FailureKind::repetition;
}

// Seen in the bytes afterwards. What ended at a guard page is told by its message (from_answers).
bool is_writing(const RequirementResult& r) {
  const Finding& finding = r.failure->finding;
  return finding.kind == FailureKind::misbehaviour && !access_of(finding);
}

const RequirementResult* failed_by_value(const SubjectReport& report, std::string_view id) {
  const RequirementResult* result = failed(report, id);
  return result != nullptr && by_value(*result) ? result : nullptr;
}

// What a requirement that fails alone speaks for. The order is that of how much it says.
constexpr std::string_view memory = "strides-memory-race";
enum class By { value, writing, any };  // failures that count
struct Spoke {
  std::string_view requirements;  // ids or families, parted by spaces
  std::string_view bug_class;
  const char* sentence;
  By by = By::value;
};
constexpr Spoke rows[] = {
    {"DET-01", "special-values", "the same call gives other results each time: a race, or memory that nobody set"},
    {"SHP-01", "launch-limits", "tokens, batches or heads beyond a limit of the launch are left out"},
    {"SHP-02", "launch-limits", "features beyond a limit of the launch are left out"},
    {"MEM-06", memory, "offsets of elements are cut to 32 bits", By::any},
    {"MEM-02", memory, "an input is written to", By::writing},
    {"MEM-03", memory, "what lies between the rows is written to", By::writing},
    {"MEM-01", memory, "memory beside the tensors is read or written", By::any},
    {"MEM-07", memory, "the device's memory or its barriers are used wrongly, as the results do not show", By::any},
    {"SHP-06", "varlen-packing-cp", "a call without batches, tokens or heads is not served", By::any},
    {"SPC", "special-values",
     "zeros, NaN, infinities, very large or very small inputs are treated otherwise than others"},
    {"ROT-09", "special-values",
     "features that do not turn are copied right, but not where they or others are no numbers"},
    {"DET-03", "table-cache", "two calls at once share what each should have for itself"},
    {"ROT-13", "precision", "results are rounded in one direction"},
    {"ROT-11 ROT-12 POS-05 SHP-07 DET-02 MEM-05", "precision",
     "the last bits depend on how the call is made: another order of roundings on another path"},
    {"BWD", "backward", "the backward pass is not the transpose of the forward one"},
    {"MEM", memory, "memory is addressed wrongly", By::writing},
    {"POS", "position-offset", "tokens are rotated by positions that are not theirs"},
    {"ANG", "precision", "angles are too far off, or wrong, at positions or parameters that no other case has"},
};

bool names(const Spoke& row, std::string_view id) {
  for (std::size_t from = 0; from < row.requirements.size();) {
    const std::size_t to = std::min(row.requirements.find(' ', from), row.requirements.size());
    const std::string_view word = row.requirements.substr(from, to - from);
    if (id == word || (word.find('-') == word.npos && id.starts_with(word))) return true;
    from = to + 1;
  }
  return false;
}

// Faults that are accepted say more than that some are: a kernel that checks all but one has one bug.
std::optional<Pointer> from_faults(const SubjectReport& report, Examiner& examiner) {
  std::vector<std::string> requirements;
  std::optional<Case> example;
  for (const RequirementResult& r : report.results) {
    if (!r.id.starts_with("ERR") || !r.failure || r.verdict != Verdict::fail) continue;
    requirements.push_back(r.id);
    if (!example) example = r.failure->minimal;
  }
  if (!example) return std::nullopt;
  std::vector<Fault> accepted;
  for (const FaultWord& known : fault_words()) {
    if (known.fault == Fault::none) continue;
    for (const RequirementResult& r : report.results) {
      if (!r.id.starts_with("ERR") || !r.failure || r.verdict != Verdict::fail) continue;
      Case c = r.failure->minimal;
      if (c.fault != known.fault) {
        // A case with room for this fault: tables, positions and k as it needs them.
        c.fault = known.fault;
        c.spec.head_dim = c.spec.rotary_dim = std::max(c.spec.head_dim, 8);
        c.seq = std::max(c.seq, 2);
      }
      if (!uncovered(c, examiner.subject().claims()).empty()) continue;
      if (examiner.refusal(c).passed()) continue;
      accepted.push_back(known.fault);
      break;
    }
  }
  const auto only = [&](std::initializer_list<Fault> faults) {
    return !accepted.empty() && std::all_of(accepted.begin(), accepted.end(), [&](Fault f) {
      return std::find(faults.begin(), faults.end(), f) != faults.end();
    });
  };
  Candidate c{"bad-arguments", "a call that is wrong is not refused", "", 1};
  if (!accepted.empty()) {
    c.sentence += fmt::format(": {}", word_of(accepted.front()).meaning);
    if (accepted.size() > 1) c.sentence += fmt::format(", and {} other faults", accepted.size() - 1);
  }
  if (only({Fault::odd_rotary_dim})) c.bug_class = "frequency-base";
  if (only({Fault::no_sin}) || only({Fault::no_cos})) c.bug_class = "table-cache";
  // The rows are counted, and the offset is left out of the count: too large or below zero, it is not looked at
  // (POS-13).
  const auto has = [&](Fault f) { return std::find(accepted.begin(), accepted.end(), f) != accepted.end(); };
  if (accepted.size() == 2 && has(Fault::offset_beyond_table) && has(Fault::negative_offset)) {
    c.bug_class = "position-offset";
  }
  if (only({Fault::wide_table}) || only({Fault::odd_table, Fault::wide_table})) c.bug_class = "strides-memory-race";
  return Pointer{c, requirements};
}

// The scaling rule of everything that failed, where what has none holds. Empty: there is no such.
std::string rule_that_fails(const Observations& seen) {
  std::string rule;
  bool unscaled_holds = false;
  for (const auto& one : seen) {
    const Scaling& scaling = one->c.spec.scaling;
    const bool unscaled = std::holds_alternative<scaling::None>(scaling);
    unscaled_holds = unscaled_holds || (unscaled && !one->failed());
    if (!one->failed()) continue;
    if (unscaled || (!rule.empty() && rule != kind_of(scaling))) return "";
    rule = kind_of(scaling);
  }
  return unscaled_holds ? rule : "";
}

}  // namespace

std::vector<Pointer> from_requirements(const SubjectReport& report, const Observations& seen, Examiner& examiner) {
  std::vector<Pointer> found;
  const RequirementResult* state = failed_by_value(report, "STA-01");
  for (const RequirementResult& r : report.results) {
    if (state == nullptr && r.verdict == Verdict::fail && r.failure && r.failure->needs_earlier_calls) state = &r;
  }
  if (state != nullptr) {
    const Scaling& rule = state->failure->minimal.spec.scaling;
    const bool by_length =
        std::holds_alternative<scaling::Dynamic>(rule) || std::holds_alternative<scaling::LongRope>(rule);
    Candidate c{by_length ? "scaling-config" : "table-cache", "what an earlier call left behind decides", "", 1};
    found.push_back({c, {state->id}});
  }
  for (const Spoke& row : rows) {
    Pointer pointer{{std::string(row.bug_class), row.sentence, "", 0}, {}};
    for (const RequirementResult& r : report.results) {
      if (r.verdict != Verdict::fail || !r.failure || !names(row, r.id)) continue;
      if (row.by == By::any || by_value(r) || (row.by == By::writing && is_writing(r))) {
        pointer.requirements.push_back(r.id);
      }
    }
    if (pointer.requirements.empty()) continue;
    const RequirementResult* first = failed(report, pointer.requirements.front());
    if (first != nullptr && row.requirements.starts_with("MEM") && !first->failure->finding.message.empty()) {
      pointer.candidate.sentence += ": " + headline(first->failure->finding.message);
    }
    if (const std::string rule = rule_that_fails(seen); row.requirements == "ANG" && !rule.empty()) {
      pointer.candidate.bug_class = "scaling-config";
      pointer.candidate.sentence = rule + ": the angles are not those of the rule";
    }
    found.push_back(std::move(pointer));
  }
  if (auto faults = from_faults(report, examiner)) found.push_back(std::move(*faults));
  std::size_t failures = 0;
  for (const RequirementResult& r : report.results) failures += r.verdict == Verdict::fail ? 1 : 0;
  for (Pointer& p : found) {
    p.candidate.fit =
        static_cast<double>(p.requirements.size()) / static_cast<double>(std::max<std::size_t>(failures, 1));
  }
  return found;
}

std::vector<Pointer> from_answers(const SubjectReport& report, const Observations& seen) {
  std::vector<SeenRow> with, without;
  const Finding* first = nullptr;
  for (const auto& one : seen) {
    const bool ended = !one->answered();
    (ended ? with : without).push_back({one.get(), 0, 1, true});
    if (ended && first == nullptr) first = &one->problem;
  }
  if (with.empty()) return {};
  const std::vector<Literal> condition = separate(with, without);
  Pointer pointer{{"strides-memory-race", headline(first->message), words_of(condition), 0}, {}};
  if (first->kind == FailureKind::status) {
    const std::string spoken_for = class_of_condition(condition);
    // A kernel that says it failed did not refuse the call: its device, or its memory, did.
    const bool refused = first->message.find(status_name(ROPE_FAILED)) == std::string::npos;
    if (!spoken_for.empty()) {
      pointer.candidate.bug_class = spoken_for;
    } else if (refused) {
      pointer.candidate.bug_class = "bad-arguments";
    }
  }
  // Where rows of the tables lie far apart and those of the tensors do not, what leads astray is the index of a row.
  if (std::all_of(with.begin(), with.end(),
                  [](const SeenRow& row) { return row.seen->c.layout == Layout::distant_rows; })) {
    pointer.candidate.bug_class = "table-cache";
  }
  for (const RequirementResult& r : report.results) {
    if (r.verdict == Verdict::fail && r.failure && !by_value(r)) pointer.requirements.push_back(r.id);
  }
  double wrong = 0;
  for (const auto& one : seen) wrong += one->failed() ? 1 : 0;
  pointer.candidate.fit = static_cast<double>(with.size()) / std::max(wrong, 1.0);
  return {pointer};
}

bool is_irregular(const SubjectReport& report, const Observations& seen, Examiner& examiner) {
  if (failed_by_value(report, "DET-01") != nullptr) return true;
  constexpr int repetitions = 4;
  std::size_t tried = 0;
  for (const auto& one : seen) {
    if (!one->failed() || !one->answered() || one->elements() < 16) continue;
    if (++tried > 8) return false;
    // What came before `one` was another call than what comes before its repetitions: these alone are alike.
    std::optional<Trial> last;
    for (int i = 0; i < repetitions; ++i) {
      Trial again = examiner.run(one->before);
      if (!again.ok()) break;
      if (last && again.call.q_result().bytes != last->call.q_result().bytes) return true;
      if (last && one->before.k && again.call.k_result().bytes != last->call.k_result().bytes) return true;
      last = std::move(again);
    }
  }
  return false;
}

bool needs_unusual_inputs(const Observations& seen) {
  bool some_fail = false, others_hold = false;
  for (const auto& one : seen) {
    const bool unusual = one->c.input >= InputKind::huge;
    if (one->failed() && !unusual) return false;
    some_fail = some_fail || one->failed();
    others_hold = others_hold || !unusual;
  }
  return some_fail && others_hold;
}

bool depends_on_earlier_calls(const SubjectReport& report, const Observations& seen, Examiner& examiner) {
  std::size_t needed = 0, failing = 0;
  for (const RequirementResult& r : report.results) {
    if (r.verdict != Verdict::fail || !r.failure || r.failure->finding.kind != FailureKind::value) continue;
    ++failing;
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
