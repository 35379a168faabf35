#include "tests/diagnosis/other_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/conformance/coverage.hpp"
#include "tests/conformance/explain.hpp"

namespace rope::diagnosis {
namespace {

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

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
    if (id == word || (word.find('-') == word.npos && starts(id, word))) return true;
    from = to + 1;
  }
  return false;
}

// Faults that are accepted say more than that some are: a kernel that checks all but one has one bug.
std::optional<Pointer> from_faults(const SubjectReport& report, Examiner& examiner) {
  std::vector<std::string> requirements;
  std::optional<Case> example;
  for (const RequirementResult& r : report.results) {
    if (!starts(r.id, "ERR") || !r.failure || r.verdict != Verdict::fail) continue;
    requirements.push_back(r.id);
    if (!example) example = r.failure->minimal;
  }
  if (!example) return std::nullopt;
  std::vector<Fault> accepted;
  for (const FaultWord& known : fault_words()) {
    if (known.fault == Fault::none) continue;
    for (const RequirementResult& r : report.results) {
      if (!starts(r.id, "ERR") || !r.failure || r.verdict != Verdict::fail) continue;
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

struct Spoken {
  std::string_view words;
  const char* bug_class;
};
constexpr Spoken spoken[] = {
    {"very large inputs", "special-values"},
    {"subnormal inputs", "special-values"},
    {"zeros for inputs", "special-values"},
    {"inputs of an unusual size", "special-values"},
    {"backward", "backward"},
    {"several axes", "multi-axis"},
    {"axes that alternate", "multi-axis"},
    {"axes in blocks", "multi-axis"},
    {"scaling", "scaling-config"},
    {"linear scaling", "scaling-config"},
    {"ntk scaling", "scaling-config"},
    {"dynamic scaling", "scaling-config"},
    {"yarn scaling", "scaling-config"},
    {"longrope scaling", "scaling-config"},
    {"llama3 scaling", "scaling-config"},
    {"proportional scaling", "scaling-config"},
    {"pixel scaling", "scaling-config"},
    {"constant scaling", "scaling-config"},
    {"an attention factor", "scaling-config"},
    {"in place", "strides-memory-race"},
    {"strides that are not contiguous", "strides-memory-race"},
    {"padded rows", "strides-memory-race"},
    {"negative strides, features apart", "strides-memory-race"},
    {"an output laid out otherwise than the input", "strides-memory-race"},
    {"heads before tokens in memory", "strides-memory-race"},
    {"rotary_dim below head_dim", "partial-passthrough"},
    {"full-width tables", "table-cache"},
    {"half-width tables", "table-cache"},
    {"tables with unequal halves", "table-cache"},
    {"tables of another type than q", "table-cache"},
    {"tables that end with the largest position", "table-cache"},
    {"more rows in the tables than positions need", "table-cache"},
    {"tables given", "table-cache"},
    {"in k", "heads-batch-qk"},
    {"in q", "heads-batch-qk"},
    {"k given", "heads-batch-qk"},
    {"k with fewer heads than q", "heads-batch-qk"},
    {"k with more heads than q", "heads-batch-qk"},
    {"past the first batch", "heads-batch-qk"},
    {"past the first head", "heads-batch-qk"},
    {"several batches", "heads-batch-qk"},
    {"several heads", "heads-batch-qk"},
    {"f16", "precision"},
    {"bf16", "precision"},
    {"f32", "precision"},
    {"f64", "precision"},
    {"16-bit tensors", "precision"},
    {"positions for each batch", "position-offset"},
    {"given positions", "position-offset"},
    {"positions from an offset", "position-offset"},
};

}  // namespace

std::string class_of_condition(const std::vector<Literal>& condition) {
  for (const Spoken& s : spoken) {
    for (const Literal& l : condition) {
      if (l.words == s.words) return s.bug_class;
    }
  }
  for (const Literal& l : condition) {
    // No kernel handles so many by one loop: the number is that of a grid or a block.
    const bool index = starts(l.words, "token ") || starts(l.words, "head ") || starts(l.words, "batch ");
    if (l.counted && index && l.limit >= 1000) return "launch-limits";
    if (l.counted && starts(l.words, "head_dim") && l.limit >= 1000) return "launch-limits";
    if (l.counted && starts(l.words, "number of heads")) return "heads-batch-qk";
    if (l.counted && starts(l.words, "head ")) return "heads-batch-qk";
  }
  return "";
}

std::string words_of(const std::vector<Literal>& condition) {
  std::string text;
  for (const Literal& l : condition) text += (text.empty() ? "only " : ", ") + l.words;
  return text;
}

bool is_of_large_positions(const Weighed& cause) {
  // No table is so long, no rule begins there and no counter ends there but those of 2^31: the angles are what is left.
  constexpr std::int64_t large = 1 << 20;
  return std::any_of(cause.condition.begin(), cause.condition.end(), [](const Literal& l) {
    return l.counted && starts(l.words, "position ") && l.words.ends_with("or more") && l.limit >= large;
  });
}

std::string class_of(const Weighed& cause) {
  const Hypothesis& h = *cause.hypothesis;
  if (is_of_large_positions(cause)) return "precision";
  const std::string spoken_for = class_of_condition(cause.condition);
  // One size alone that is not rotated is a specialisation that is empty: sizes and types are chosen together
  // (PREC-11).
  const bool one_size = std::any_of(cause.condition.begin(), cause.condition.end(), [](const Literal& l) {
    return l.words == fmt::format("head_dim {}", l.limit) && l.counted && l.limit < 1000;
  });
  if (h.unrotated && one_size && spoken_for.empty()) return "precision";
  const auto only = [&](std::string_view words) {
    return std::any_of(cause.condition.begin(), cause.condition.end(),
                       [&](const Literal& l) { return l.words == words; });
  };
  if (h.short_table && (only("computed angles") || only("frequencies given") || only("no tables given"))) {
    return "table-cache";
  }
  // What is left out from a power of two on, or of calls that have many of something, is what a launch did not reach.
  const bool of_a_launch = std::any_of(cause.condition.begin(), cause.condition.end(), [](const Literal& l) {
    const bool index = starts(l.words, "token ") || starts(l.words, "head ") || starts(l.words, "batch ");
    const bool many = starts(l.words, "number of ") && !l.words.ends_with("or less") && l.limit > 8;
    const bool from_a_power = index && l.limit >= 8 && (l.limit & (l.limit - 1)) == 0 && l.words.ends_with("or more");
    return l.counted && (many || from_a_power);
  });
  if (spoken_for.empty()) return h.unrotated && of_a_launch ? "launch-limits" : h.bug_class;
  // The pass that is wrong is the bug, whatever else the pass gets wrong.
  if (only("backward")) return "backward";
  if (spoken_for == "special-values") return spoken_for;
  // That nothing is rotated says nothing; when it happens says all. k that stays as it was is memory not written.
  if (h.unrotated && of_a_launch) return "launch-limits";
  const bool of_a_batch = only("past the first batch") || only("several batches");
  if (h.unrotated && of_a_batch && only("positions for each batch")) return "varlen-packing-cp";
  if (h.unrotated) {
    const bool some_heads = only("past the first head") || only("k with more heads than q") ||
                            only("k with fewer heads than q") || only("several heads");
    return only("in k") && !some_heads ? h.bug_class : spoken_for;
  }
  const bool vague = h.bug_class == "position-offset" || h.bug_class == "table-cache" || h.change.position;
  if (vague && (spoken_for == "scaling-config" || spoken_for == "multi-axis")) return spoken_for;
  if (h.bug_class == "scaling-config" && spoken_for == "table-cache" && h.change.params) return spoken_for;
  if (h.bug_class == "pipeline" && spoken_for == "scaling-config") return spoken_for;
  return h.bug_class;
}

namespace {

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
    if (first != nullptr && starts(row.requirements, "MEM") && !first->failure->finding.message.empty()) {
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
