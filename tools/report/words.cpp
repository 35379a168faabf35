#include "tools/report/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/judge/run/explain.hpp"

namespace rope {

std::string_view name(FailureKind kind) {
  switch (kind) {
    case FailureKind::none: return "none";
    case FailureKind::value: return "value";
    case FailureKind::unwritten: return "unwritten";
    case FailureKind::relation: return "relation";
    case FailureKind::repetition: return "repetition";
    case FailureKind::status: return "status";
    case FailureKind::exception: return "exception";
    case FailureKind::crash: return "crash";
    case FailureKind::timeout: return "timeout";
    case FailureKind::misbehaviour: return "misbehaviour";
    case FailureKind::missing: return "missing";
    case FailureKind::malformed: return "malformed";
  }
  return "?";
}

std::string_view name(Level level) {
  switch (level) {
    case Level::quick: return "quick";
    case Level::full: return "full";
    case Level::exhaustive: return "exhaustive";
  }
  return "?";
}

std::optional<Level> level_called(std::string_view word) {
  for (const Level level : {Level::quick, Level::full, Level::exhaustive}) {
    if (word == name(level)) return level;
  }
  return std::nullopt;
}

std::vector<std::string> required_words(const Selection& selection) {
  std::vector<std::string> words;
  if (selection.grade != Grade{}) words.push_back(name(selection.grade));
  for (const DemandWord& known : demand_words()) {
    if ((selection.demands & mask(known.demand)) != 0) words.emplace_back(known.word);
  }
  return words;
}

const Finding* shown_worst(const RequirementResult& result) {
  if (!result.worst || !result.worst->element) return nullptr;
  const bool gave_no_results = result.failure && !is_of_values(result.failure->finding.kind);
  return gave_no_results && result.worst->use <= 1 ? nullptr : &*result.worst;
}

std::string worst_words(const RequirementResult& result) {
  const Finding* const shown = shown_worst(result);
  if (shown == nullptr) return "";
  const Finding& worst = *shown;
  const Element& e = *worst.element;
  if (worst.use == 0) return "exact";
  std::string text = std::isfinite(worst.use) ? fmt::format("worst {:.3g} of the bound", worst.use)
                                              : std::string("worst is beyond any bound");
  const Case c = case_from_text(result.worst_case);
  text += fmt::format(": {}", name(c.dtype));
  if (e.pair) text += fmt::format(", pair {}", *e.pair);
  if (e.pair && e.position != 0) text += fmt::format(", position {}", e.position);
  return text;
}

std::string sentences(const SandboxWords& words) {
  const auto is_applied = [&](std::string_view measure) {
    return std::ranges::find(words.applied, measure) != words.applied.end();
  };
  if (words.mode == "off") return "sandbox: off; a subject may touch whatever this user may\n";
  constexpr std::pair<std::string_view, std::string_view> each[] = {
      {"environment", "a subject gets a list of variables"},
      {"privileges", "it has no privileges"},
      {"processes", "it sees no other processes, and none of its own outlives it"},
      {"files", "it reads no HOME, and writes only to a scratch folder"},
      {"calls", "it opens no sockets and traces no process"}};
  std::string text;
  for (const auto& [measure, sentence] : each) {
    if (is_applied(measure)) text += fmt::format("sandbox: {}\n", sentence);
  }
  for (const auto& [measure, why] : words.missing) text += fmt::format("sandbox: missing: {}: {}\n", measure, why);
  return text;
}

std::string counted(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string grade_words(const MeasuredGrade& grade) {
  if (grade.grade.empty()) {
    return grade.use > 1 ? "no grade: not even C3 holds" : "no grade: a requirement fails in this dtype";
  }
  return fmt::format("grade {}, {:.2f} of its bound used", grade.grade, grade.use);
}

std::string horizon_words(const Horizon& horizon) {
  const std::string where = horizon.position < 0 ? "at no position"
                            : horizon.position == horizon.tried
                                ? fmt::format("up to position {}, the largest tried", horizon.position)
                                : fmt::format("up to position {}, not to {}", horizon.position, horizon.tried);
  return fmt::format("scores shift-invariant to {:.3g} {} ({})", horizon.tolerance, where,
                     horizon.source == AngleSource::computed ? "computed angles" : "given frequencies, own angles");
}

namespace {

std::string candidate_words(const Candidate& c) {
  return fmt::format("{}: {}{}{}", word_of(c.bug_class), c.sentence, c.condition.empty() ? "" : "; ", c.condition);
}

}  // namespace

std::string diagnosis_words(const Diagnosis& diagnosis) {
  if (diagnosis.candidates.empty()) return "no known bug explains the evidence";
  return fmt::format("{}{}", diagnosis.certain ? "" : "not certain, most likely ",
                     candidate_words(diagnosis.candidates[0]));
}

namespace {

void add_trigger(const Diagnosis& diagnosis, std::vector<std::string>& lines) {
  if (!diagnosis.trigger.empty()) lines.push_back("  fails with: " + diagnosis.trigger);
  if (!diagnosis.unexplained.empty()) {
    lines.push_back(fmt::format("  not explained by it: {}", fmt::join(diagnosis.unexplained, ", ")));
  }
}

}  // namespace

std::vector<std::string> short_diagnosis(const Diagnosis& diagnosis) {
  std::vector<std::string> lines{"diagnosis: " + headline(diagnosis_words(diagnosis))};
  add_trigger(diagnosis, lines);
  return lines;
}

std::vector<std::string> diagnosis_lines(const Diagnosis& diagnosis) {
  std::vector<std::string> lines{"diagnosis: " + diagnosis_words(diagnosis)};
  if (!diagnosis.evidence.empty()) lines.push_back("  evidence: " + diagnosis.evidence);
  add_trigger(diagnosis, lines);
  if (!diagnosis.plan.empty()) {
    lines.push_back("  executed plan: asked for " + diagnosis.plan[0]);
    for (std::size_t i = 1; i < diagnosis.plan.size(); ++i) lines.push_back("    " + diagnosis.plan[i]);
  }
  for (std::size_t i = 1; i < diagnosis.candidates.size(); ++i) {
    const Candidate& c = diagnosis.candidates[i];
    lines.push_back(fmt::format("  {} {}  (fit {:.2f}; the first {:.2f})", i == 1 ? "or" : "  ", candidate_words(c),
                                c.fit, diagnosis.candidates[0].fit));
  }
  return lines;
}

std::string slow_words(const SubjectReport& report) {
  constexpr double slow = 5;  // seconds
  const double seconds = report.kernel_seconds();
  if (seconds < slow) return "";
  const auto most = std::ranges::max_element(report.results, {}, &RequirementResult::kernel_seconds);
  return fmt::format("the kernel took {:.1f} s; {:.1f} s of it in the {} cases of {}", seconds, most->kernel_seconds,
                     most->cases, most->id);
}

std::string hang_words(std::int64_t recovered_hangs, std::int64_t calls) {
  if (recovered_hangs == 0) return "";
  return fmt::format("{} of {} did not return in time, and did in a new process", recovered_hangs, counted(calls, "call"));
}

std::string budget_words(const SubjectReport& report) {
  if (report.left_out() == 0) return "";
  std::vector<std::string> not_asked;
  for (const RequirementResult& result : report.results) {
    if (result.verdict == Verdict::not_judged) not_asked.push_back(result.id);
  }
  const std::int64_t without = report.count(Verdict::not_claimed) + report.count(Verdict::no_case);
  const std::int64_t all = std::ssize(report.results) - without;
  return fmt::format("budget of {:g} s used: {} of {} requirements were not asked{}, {} only in part",
                     report.budget->time.count(), not_asked.size(), all,
                     not_asked.empty() ? "" : fmt::format(" ({})", fmt::join(not_asked, ", ")), report.in_part());
}

std::string conforms_without_words(const ConformsWithout& without) {
  const std::size_t again = without.judged_again.size();
  const std::string result = again == 1 ? fmt::format("{} does not fail", without.judged_again.front())
                                        : fmt::format("none of {} requirements fails", again);
  const char* what = without.claims.size() == 1 ? "this claim" : "these claims";
  return fmt::format("it would conform without {}: {} (judged again, {})", what, fmt::join(without.claims, ", "),
                     result);
}

std::string unsupported_words(const UnsupportedCalls& unsupported) {
  const std::string calls = counted(unsupported.cases, "case");
  if (unsupported.are_all) return fmt::format("all {} get the answer unsupported, and all are claimed", calls);
  if (unsupported.claims.empty()) {
    return fmt::format("{} that are claimed get the answer unsupported, such as {}", calls, unsupported.example);
  }
  const bool one = unsupported.claims.size() == 1;
  return fmt::format("{} get the answer unsupported. They need {} claim{}: {}. Support {}, or do not claim {}", calls,
                     one ? "this" : "these", one ? "" : "s", fmt::join(unsupported.claims, ", "), one ? "it" : "them",
                     one ? "it" : "them");
}

std::string title_of(const std::string& subject, const Selection& selection) {
  return selection.layers.empty() ? subject : fmt::format("{}, {} layers", subject, selection.layers);
}

std::string title_of(const SubjectReport& report) { return title_of(report.subject, report.selection); }

std::string spec_words(const Selection& selection) {
  if (!selection.spec) return "";
  std::string words = to_flags(*selection.spec);
  const std::string pairing = fmt::format(" --pairing {}", name(selection.spec->pairing));
  if (selection.any_pairing) words.erase(words.find(pairing), pairing.size());
  return words;
}

namespace {

std::string nothing_executed(const SubjectReport& report) {
  const std::vector<std::string>& only = report.selection.only;
  if (report.missing_claim.empty() && !only.empty()) {
    return fmt::format("no case was executed: {} {} no case for what is claimed", fmt::join(only, ", "),
                       only.size() == 1 ? "has" : "have");
  }
  const std::string why = report.missing_claim.empty() ? "" : fmt::format(" ({})", report.missing_claim);
  return fmt::format("no case was executed: the claims cover nothing of what was asked{}", why);
}

}  // namespace

std::string verdict_words(const SubjectReport& report) {
  if (report.interrupted) {
    const char* how = report.ended_by.empty() ? "interrupted" : "incomplete";
    return report.count(Verdict::fail) > 0 ? fmt::format("does not conform; {}", how)
                                           : fmt::format("{}: no verdict", how);
  }
  if (report.executed() == 0 && report.left_out() == 0) return nothing_executed(report);
  if (report.count(Verdict::fail) > 0) return "does not conform";
  if (report.left_out() > 0) return "no verdict: nothing that was asked fails, but not all was asked";
  std::string verdict = report.conforms() ? "conforms" : "does not conform, as expected";
  if (report.only_position_0) {
    verdict += ", but only at position 0, where nothing turns: its max_position is 0; claim the largest position";
  }
  const std::int64_t better = report.count(Verdict::unexpected_pass);
  if (better > 0) {
    verdict += fmt::format(", but {} expected failure{}: take {} off the list", better,
                           better == 1 ? " passes" : "s pass", better == 1 ? "it" : "them");
  }
  return verdict;
}

std::string count_words(const SubjectReport& report) {
  std::string text = fmt::format("{} passed, {} failed, ", report.count(Verdict::pass), report.count(Verdict::fail));
  const auto add = [&](Verdict verdict, const char* one, const char* many) {
    const std::int64_t count = report.count(verdict);
    if (count > 0) text += fmt::format("{} {}, ", count, count == 1 ? one : many);
  };
  add(Verdict::expected_failure, "expected failure", "expected failures");
  add(Verdict::unexpected_pass, "unexpected pass", "unexpected passes");
  add(Verdict::note, "note", "notes");
  add(Verdict::not_judged, "not judged", "not judged");
  add(Verdict::no_case, "without a case", "without a case");
  return text + fmt::format("{} not claimed", report.count(Verdict::not_claimed));
}

std::string printable(const std::string& text) {
  using Value = nlohmann::json;
  const std::string utf8 =
      Value::parse(Value(text).dump(-1, ' ', false, Value::error_handler_t::replace)).get<std::string>();
  constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
  std::string result;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    // XML does not allow U+FFFE and U+FFFF either.
    const std::string_view three = std::string_view(utf8).substr(i, 3);
    const bool no_character = three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF";
    if (no_character) i += 2;
    if (no_character || (byte < 0x20 && byte != '\n') || byte == 0x7F) {
      result += replacement;
    } else {
      result += utf8[i];
    }
  }
  return result;
}

std::string html_text(const std::string& text) {
  std::string result;
  for (const char letter : printable(text)) {
    switch (letter) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '\n': result += ' '; break;
      default: result += letter;
    }
  }
  return result;
}

}  // namespace rope
