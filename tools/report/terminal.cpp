#include "tools/report/terminal.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tests/conformance/explain.hpp"

namespace rope {
namespace {

std::string painted(const TerminalStyle& style, const char* code, std::string text) {
  return style.colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

std::string verdict_word(const TerminalStyle& style, Verdict verdict) {
  switch (verdict) {
    case Verdict::pass: return painted(style, "32", "pass       ");
    case Verdict::fail: return painted(style, "31;1", "FAIL       ");
    case Verdict::not_claimed: return painted(style, "2", "not claimed");
  }
  return "";
}

// "worst 0.62 of the bound: f32, pair 3, position 1026"
std::string worst_use(const RequirementResult& result) {
  if (!result.worst || !result.worst->element) return "";
  const Finding& worst = *result.worst;
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

std::string line(const char* label, const std::string& value) { return fmt::format("      {:<9} {}\n", label, value); }

std::string failure_text(const TerminalStyle& style, const RequirementResult& result, const std::string& subject) {
  const Failure& failure = *result.failure;
  return fmt::format("    {}\n", painted(style, "1", result.sentence)) +
         finding_lines(failure.finding, failure.minimal) +
         line("failed", fmt::format("{} of {} cases", result.failed, result.cases)) +
         replay_line(failure.minimal, subject);
}

}  // namespace

std::string finding_lines(const Finding& finding, const Case& c) {
  std::string text = line("found", explain(finding));
  if (!finding.element) return text;
  const Element& e = *finding.element;
  text += line("where", place(e, c));
  text += line("expected", value_with_bits(e.dtype, e.expected));
  text += line("actual", value_with_bits(e.dtype, e.actual));
  if (e.bound > 0) text += line("error", fmt::format("{:.6g}, bound {:.6g}", e.error, e.bound));
  return text;
}

std::string replay_line(const Case& c, const std::string& subject) {
  return line("replay", replay_command(c, subject));
}

std::string terminal_report(const SubjectReport& report, const TerminalStyle& style) {
  std::string text = painted(style, "1", report.subject) + "\n";
  std::int64_t counts[3] = {};
  for (const RequirementResult& result : report.results) {
    ++counts[static_cast<int>(result.verdict)];
    text += fmt::format("  {}  {}", result.id, verdict_word(style, result.verdict));
    if (result.cases > 0) {
      const std::string worst = worst_use(result);
      text += fmt::format("  {:>5} cases{}{}", result.cases, worst.empty() ? "" : "  ", worst);
    }
    text += "\n";
    if (result.failure) text += failure_text(style, result, report.subject);
  }
  for (const MeasuredGrade& grade : report.grades) {
    text += grade.grade.empty() ? fmt::format("  {:<5} no grade: not even C3 holds\n", name(grade.dtype))
                                : fmt::format("  {:<5} grade {}, {:.2f} of its bound used\n", name(grade.dtype),
                                              grade.grade, grade.use);
  }
  const std::string summary =
      fmt::format("{} passed, {} failed, {} not claimed; {} cases, {} calls, {:.1f} s, seed {}", counts[0], counts[1],
                  counts[2], report.executed(), report.calls, report.seconds, report.selection.seed);
  std::string verdict =
      report.conforms() ? painted(style, "32;1", "conforms") : painted(style, "31;1", "does not conform");
  if (report.interrupted) verdict = painted(style, "33;1", "interrupted: no verdict");
  if (!report.interrupted && report.executed() == 0) {
    verdict = painted(style, "31;1", "no case was executed: the claims cover nothing of what was asked");
  }
  return text + fmt::format("  {}: {}  ({})\n", report.subject, verdict, summary);
}

}  // namespace rope
