#include "tools/report/terminal.hpp"

#include <fmt/color.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/judge/run/explain.hpp"
#include "tools/report/words.hpp"

namespace rope {
namespace {

constexpr fmt::text_style bold = fmt::emphasis::bold;
constexpr fmt::text_style green = fmt::fg(fmt::terminal_color::green);
constexpr fmt::text_style yellow = fmt::fg(fmt::terminal_color::yellow);
constexpr fmt::text_style red = fmt::fg(fmt::terminal_color::red) | bold;

std::string painted(const TerminalStyle& style, const fmt::text_style& paint, std::string text) {
  return style.colour ? fmt::format(paint, "{}", text) : text;
}

std::string verdict_word(const TerminalStyle& style, Verdict verdict) {
  switch (verdict) {
    case Verdict::pass: return painted(style, green, "pass       ");
    case Verdict::fail: return painted(style, red, "FAIL       ");
    case Verdict::note: return painted(style, yellow, "note       ");
    case Verdict::not_claimed: return painted(style, fmt::emphasis::faint, "not claimed");
    case Verdict::expected_failure: return painted(style, yellow, "expected failure");
    case Verdict::unexpected_pass: return painted(style, red, "UNEXPECTED PASS");
    case Verdict::not_judged: return painted(style, yellow, "not judged");
  }
  return "";
}

bool is_failure(const RequirementResult& result) {
  return result.verdict == Verdict::fail || result.verdict == Verdict::unexpected_pass;
}

std::string line(const char* label, const std::string& value) {
  std::string text = fmt::format("      {:<9} ", label);
  const std::string indent = "\n" + std::string(text.size(), ' ');
  for (const char c : value) text += c == '\n' ? indent : std::string(1, c);
  return text + "\n";
}

// One exception fails many requirements: its trace is shown only with the first.
using Traces = std::map<std::string, std::string>;  // the requirement that showed it

std::string without_known_trace(const std::string& found, const std::string& id, Traces& shown) {
  const std::size_t end = found.find('\n');
  if (end == found.npos) return found;
  const auto [trace, is_new] = shown.try_emplace(found.substr(end), id);
  return is_new ? found : fmt::format("{} (traceback as for {})", headline(found), trace->second);
}

std::string lines_of(const std::string& found, const Finding& finding, const Case& c) {
  std::string text = line("found", found);
  if (!finding.element) return text;
  text += line("where", place(*finding.element, c));
  for (const auto& [label, value] : details(finding)) text += line(label.c_str(), value);
  return text;
}

std::string failure_text(const TerminalStyle& style, const RequirementResult& result, const SubjectReport& report,
                         Traces& shown) {
  const Failure& failure = *result.failure;
  const std::string found = without_known_trace(explain(failure), result.id, shown);
  return fmt::format("    {}\n", painted(style, bold, result.sentence)) +
         lines_of(found, failure.finding, failure.minimal) +
         line("failed", fmt::format("{} of {}", result.failed, counted(result.cases, "case"))) +
         replay_line(failure.minimal, report.subject, report.selection.grade);
}

// What was measured beside the verdict, and what the kernel was allowed.
std::string measurements(const SubjectReport& report) {
  std::string text;
  for (const MeasuredGrade& grade : report.grades) {
    text += fmt::format("  {:<5} {}\n", name(grade.dtype), grade_words(grade));
  }
  for (const Horizon& horizon : report.horizons) {
    text += fmt::format("  {:<5} {}\n", name(horizon.dtype), horizon_words(horizon));
  }
  if (!report.permitted_variants.empty()) {
    text += fmt::format("  permitted variants: {}\n", fmt::join(report.permitted_variants, "; "));
  }
  return text;
}

std::string diagnosis_text(const TerminalStyle& style, const Diagnosis& diagnosis) {
  std::string text;
  for (const std::string& words : diagnosis_lines(diagnosis)) {
    text += fmt::format("  {}\n", text.empty() ? painted(style, bold, words) : words);
  }
  return text;
}

}  // namespace

std::string finding_lines(const Finding& finding, const Case& c) { return lines_of(explain(finding), finding, c); }

std::string finding_lines(const Failure& failure) {
  return lines_of(explain(failure), failure.finding, failure.minimal);
}

std::string replay_line(const Case& c, const std::string& subject, Grade required) {
  return line("replay", replay_command(c, subject, required));
}

std::string terminal_report(const SubjectReport& report, const TerminalStyle& style) {
  std::string text = style.quiet ? "" : painted(style, bold, printable(title_of(report))) + "\n";
  if (!style.quiet && !report.claims_note.empty()) text += fmt::format("  claims: {}\n", report.claims_note);
  Traces shown;
  for (const RequirementResult& result : report.results) {
    if (style.quiet && !is_failure(result)) continue;
    text += fmt::format("  {}  {}", result.id, verdict_word(style, result.verdict));
    if (result.cases > 0) {
      const std::string worst = worst_words(result);
      const std::string of_all = result.left_out > 0 ? fmt::format("of {} ", result.cases + result.left_out) : "";
      text += fmt::format("  {:>5} {}{}{}{}", result.cases, of_all, result.cases == 1 ? "case" : "cases",
                          worst.empty() ? "" : result.cases == 1 ? "   " : "  ", worst);
    }
    text += "\n";
    if (!result.reason.empty()) text += line("listed", result.reason);
    if (!result.undecided.empty()) text += line("undecided", result.undecided);
    const bool is_told_below =
        report.unsupported && std::ranges::find(report.unsupported->requirements, result.id) !=
                                  report.unsupported->requirements.end();
    if (result.failure && !is_told_below) text += failure_text(style, result, report, shown);
  }
  if (!style.quiet) text += measurements(report);
  const bool failed = report.count(Verdict::fail) > 0;
  const bool is_undecided = !failed && (report.interrupted || report.left_out() > 0);
  const fmt::text_style paint = is_undecided           ? yellow | bold
                                : report.as_expected() ? (report.conforms() ? green : yellow) | bold
                                                       : red;
  const std::string slow = style.quiet ? "" : slow_words(report);
  const std::string hangs = hang_words(report.recovered_hangs, report.calls);
  const std::string left_out = budget_words(report);
  const std::string without = report.conforms_without ? conforms_without_words(*report.conforms_without) : "";
  return text +
         fmt::format("  {}: {}  ({}; {}, {}, {:.1f} s, seed {})\n", printable(title_of(report)),
                     painted(style, paint, verdict_words(report)), count_words(report),
                     counted(report.executed(), "case"), counted(report.calls, "call"), report.seconds,
                     report.selection.seed) +
         (report.ended_by.empty() ? "" : fmt::format("  ended early: {}\n", printable(report.ended_by))) +
         (left_out.empty() ? "" : fmt::format("  {}\n", left_out)) +
         (slow.empty() ? "" : fmt::format("  slow: {}\n", slow)) +
         (hangs.empty() ? "" : fmt::format("  hangs: {}\n", hangs)) +
         (report.unsupported ? fmt::format("  unsupported: {}\n", unsupported_words(*report.unsupported)) : "") +
         (without.empty() ? "" : fmt::format("  claims: {}\n", without)) +
         (report.diagnosis ? diagnosis_text(style, *report.diagnosis) : "");
}

}  // namespace rope
