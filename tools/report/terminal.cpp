#include "tools/report/terminal.hpp"

#include <fmt/color.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>

#include "tools/judge/run/explain.hpp"
#include "tools/report/failure_blocks.hpp"
#include "tools/report/terminal_text.hpp"
#include "tools/report/tried_words.hpp"
#include "tools/report/words.hpp"

namespace rope {
namespace {

constexpr fmt::text_style bold = fmt::emphasis::bold;
constexpr fmt::text_style green = fmt::fg(fmt::terminal_color::green);
constexpr fmt::text_style yellow = fmt::fg(fmt::terminal_color::yellow);
constexpr fmt::text_style red = fmt::fg(fmt::terminal_color::red) | bold;

std::string painted(const TerminalStyle& style, const fmt::text_style& paint, std::string text) {
  if (!style.colour) return text;
  const std::string around = fmt::format(paint, "{}", "|");
  const std::size_t middle = around.find('|');
  return own_style(around.substr(0, middle)) + text + own_style(around.substr(middle + 1));
}

std::string verdict_word(const TerminalStyle& style, Verdict verdict) {
  switch (verdict) {
    case Verdict::pass: return painted(style, green, "pass       ");
    case Verdict::fail: return painted(style, red, "FAIL       ");
    case Verdict::note: return painted(style, yellow, "note       ");
    case Verdict::not_claimed: return painted(style, fmt::emphasis::faint, "not claimed");
    case Verdict::no_case: return painted(style, fmt::emphasis::faint, "no case");
    case Verdict::expected_failure: return painted(style, yellow, "expected failure");
    case Verdict::unexpected_pass: return painted(style, red, "UNEXPECTED PASS");
    case Verdict::not_judged: return painted(style, yellow, "not judged");
  }
  return "";
}

std::string line(const char* label, const std::string& value) {
  std::string text = fmt::format("      {:<9} ", label);
  const std::string indent = "\n" + std::string(text.size(), ' ');
  for (const char c : value) text += c == '\n' ? indent : std::string(1, c);
  return text + "\n";
}

std::string lines_of(const std::string& found, const Finding& finding, const Case& c) {
  std::string text = line("found", found);
  if (finding.element && finding.element->what != Compared::mean) text += line("where", place(*finding.element, c));
  return text;
}

std::string replay_of(const RequirementResult& result, const SubjectReport& report) {
  return replay_command(result.failure->minimal, report.subject, report.selection.grade);
}

// The requirement, its verdict, how many cases it had, and the worst of them.
std::string result_line(const TerminalStyle& style, const RequirementResult& result) {
  std::string text = fmt::format("  {}  {}", result.id, verdict_word(style, result.verdict));
  if (result.cases > 0) {
    const std::string worst = worst_words(result);
    const std::string of_all = result.left_out > 0 ? fmt::format("of {} ", result.cases + result.left_out) : "";
    text += fmt::format("  {:>5} {}{}{}{}", result.cases, of_all, result.cases == 1 ? "case" : "cases",
                        worst.empty() ? "" : result.cases == 1 ? "   " : "  ", worst);
    if (result.largest_position) text += fmt::format("  ({})", reached_words(result));
  }
  if (!result.lacks.empty()) text += ": " + result.lacks;
  text += "\n";
  if (!result.reason.empty()) text += line("listed", result.reason);
  if (!result.undecided.empty()) text += line("undecided", headline(result.undecided));
  return text;
}

std::string failed_line(const RequirementResult& result) {
  return line("failed", fmt::format("{} of {}", result.failed, counted(result.cases, "case")));
}

// One exception fails many requirements: its trace is shown only with the first.
using Traces = std::map<std::string, std::string>;  // the requirement that showed it

std::string without_known_trace(const std::string& found, const std::string& id, Traces& shown) {
  const std::size_t end = found.find('\n');
  if (end == found.npos) return found;
  const auto [trace, is_new] = shown.try_emplace(found.substr(end), id);
  return is_new ? found : fmt::format("{} (traceback as for {})", headline(found), trace->second);
}

std::string failure_text(const TerminalStyle& style, const RequirementResult& result, const SubjectReport& report,
                         Traces& shown) {
  const Failure& failure = *result.failure;
  const std::string found = without_known_trace(explain(failure), result.id, shown);
  return fmt::format("    {}\n", painted(style, bold, result.sentence)) +
         lines_of(found, failure.finding, failure.minimal) + failed_line(result) +
         line("replay", replay_of(result, report));
}

std::string also_lines(const FailureBlock& block) {
  std::string text;
  if (const auto others = block.others(); !others.empty()) {
    text += line("also", fmt::format("{}", fmt::join(others, ", ")));
  }
  for (const RequirementResult* other : block.otherwise) {
    text += line(other->id.c_str(), headline(explain(*other->failure)));
  }
  return text;
}

std::string short_block(const TerminalStyle& style, const FailureBlock& block, const SubjectReport& report) {
  const Failure& failure = *block.first().failure;
  return fmt::format("  {}  {}\n", painted(style, red, "FAIL"), fmt::join(block.ids(), ", ")) +
         lines_of(headline(explain(failure)), failure.finding, failure.minimal) +
         line("replay", replay_of(block.first(), report));
}

// After these, blocks are short.
constexpr std::size_t most_long_blocks = 5;

std::string failures_text(const TerminalStyle& style, const SubjectReport& report) {
  std::string text, explained;
  std::size_t long_blocks = 0;
  for (const FailureBlock& block : blocks_of(report)) {
    if (long_blocks > 0 && block.is_explained) {
      explained += fmt::format("    {}  {}\n", fmt::join(block.ids(), ", "), replay_of(block.first(), report));
    } else if (long_blocks == most_long_blocks) {
      text += short_block(style, block, report);
    } else {
      text += result_line(style, block.first()) +
              fmt::format("    {}\n", painted(style, bold, block.first().sentence)) + block_lines(block, report);
      ++long_blocks;
    }
  }
  return explained.empty() ? text : text + "  the same cause, in other cases:\n" + explained;
}

// The first block, and the ids of all other failures: with the verdict and its cause at most 15 lines.
std::string quiet_failures(const TerminalStyle& style, const SubjectReport& report) {
  std::vector<std::string> better;
  for (const RequirementResult& result : report.results) {
    if (result.verdict == Verdict::unexpected_pass) better.push_back(result.id);
  }
  const std::string pass = verdict_word(style, Verdict::unexpected_pass);
  const std::string passes = better.empty() ? "" : fmt::format("  {}  {}\n", pass, fmt::join(better, ", "));
  const std::vector<FailureBlock> blocks = blocks_of(report);
  if (blocks.empty()) return passes;
  std::vector<std::string> others = blocks.front().ids();
  others.erase(others.begin());
  for (const FailureBlock& block : std::span(blocks).subspan(1)) std::ranges::copy(block.ids(), std::back_inserter(others));
  const RequirementResult& first = blocks.front().first();
  return result_line(style, first) +
         lines_of(headline(explain(*first.failure)), first.failure->finding, first.failure->minimal) +
         line("replay", replay_of(first, report)) +
         (others.empty() ? "" : fmt::format("  {}  {}\n", painted(style, red, "FAIL"), fmt::join(others, ", "))) +
         passes;
}

// What needs a word though it decides nothing, and expected failures that pass.
std::string exceptions_text(const TerminalStyle& style, const SubjectReport& report) {
  std::string text;
  for (const RequirementResult& result : report.results) {
    const bool is_listed = !result.reason.empty(), is_undecided = !result.undecided.empty();
    const bool is_note = result.verdict == Verdict::note && report.count(Verdict::fail) == 0;
    if (result.verdict == Verdict::fail || !(is_listed || is_undecided || is_note)) continue;
    text += result_line(style, result);
    if (is_note) text += fmt::format("    {}\n", result.sentence);
  }
  std::map<std::string, std::vector<std::string>> without;  // by reason
  for (const RequirementResult& result : report.results) {
    if (result.verdict == Verdict::no_case) without[result.lacks].push_back(result.id);
  }
  for (const auto& [why, ids] : without) text += fmt::format("  no case: {}: {}\n", why, fmt::join(ids, ", "));
  return text;
}

std::string every_requirement(const TerminalStyle& style, const SubjectReport& report) {
  std::string text;
  Traces shown;
  for (const RequirementResult& result : report.results) {
    text += result_line(style, result);
    if (result.failure) text += failure_text(style, result, report, shown);
  }
  return text;
}

// "  f16, bf16  no grade: not even C3 holds": types with the same words share a line.
template <class Measured, class Words>
std::string lines_by_type(const std::vector<Measured>& all, const Words& words) {
  std::vector<std::pair<std::string, std::string>> lines;  // words, types
  for (const Measured& one : all) {
    const auto same = std::ranges::find(lines, words(one), &std::pair<std::string, std::string>::first);
    if (same == lines.end()) {
      lines.emplace_back(words(one), name(one.dtype));
    } else {
      same->second += fmt::format(", {}", name(one.dtype));
    }
  }
  std::string text;
  for (const auto& [said, types] : lines) text += fmt::format("  {:<4}  {}\n", types, said);
  return text;
}

// What was measured beside the verdict, and what the kernel was allowed.
std::string measurements(const SubjectReport& report) {
  std::string text = lines_by_type(report.grades, grade_words);
  // Of a kernel that turns by wrong angles, scores say nothing.
  if (report.count(Verdict::fail) == 0) text += lines_by_type(report.horizons, horizon_words);
  if (!report.permitted_variants.empty()) {
    text += fmt::format("  permitted variants: {}\n", fmt::join(report.permitted_variants, "; "));
  }
  for (const std::string& words : few_tried_lines(report.tried)) text += fmt::format("  tried {}\n", words);
  return text;
}

std::string diagnosis_text(const TerminalStyle& style, const Diagnosis& diagnosis) {
  std::string text;
  const bool quiet = style.detail == TerminalDetail::quiet;
  for (const std::string& words : quiet ? short_diagnosis(diagnosis) : diagnosis_lines(diagnosis)) {
    text += fmt::format("  {}\n", text.empty() ? painted(style, bold, words) : words);
  }
  return text;
}

// The verdict, why it is not one of everything, and its cause.
std::string headline_of(const TerminalStyle& style, const SubjectReport& report) {
  const bool failed = report.count(Verdict::fail) > 0;
  const bool is_undecided = !failed && (report.interrupted || report.left_out() > 0);
  const fmt::text_style paint = is_undecided           ? yellow | bold
                                : report.as_expected() ? (report.conforms() ? green : yellow) | bold
                                                       : red;
  std::string text = fmt::format("{}: {}  ({}; {}, {}, {:.1f} s, seed {})\n",
                                 painted(style, bold, title_of(report)),
                                 painted(style, paint, verdict_words(report)), count_words(report),
                                 counted(report.executed(), "case"), counted(report.calls, "call"), report.seconds,
                                 report.selection.seed);
  const auto add = [&](const char* label, const std::string& words) {
    if (!words.empty()) text += fmt::format("  {}{}\n", label, words);
  };
  add("ended early: ", headline(report.ended_by));
  add("", budget_words(report));
  if (report.unsupported) add("unsupported: ", unsupported_words(*report.unsupported));
  if (report.diagnosis) text += diagnosis_text(style, *report.diagnosis);
  add("claims: ", report.conforms_without ? conforms_without_words(*report.conforms_without) : "");
  add("hangs: ", hang_words(report.recovered_hangs, report.calls));
  if (style.detail == TerminalDetail::quiet) return text;
  add("claims: ", report.claims_note);
  add("slow: ", slow_words(report));
  return text;
}

}  // namespace

std::string finding_lines(const Finding& finding, const Case& c) { return lines_of(explain(finding), finding, c); }

std::string finding_lines(const Failure& failure) {
  return lines_of(explain(failure), failure.finding, failure.minimal);
}

std::string block_lines(const FailureBlock& block, const SubjectReport& report) {
  return finding_lines(*block.first().failure) + failed_line(block.first()) +
         line("replay", replay_of(block.first(), report)) + also_lines(block);
}

std::string replay_line(const Case& c, const std::string& subject, Grade required) {
  return line("replay", replay_command(c, subject, required));
}

std::string terminal_report(const SubjectReport& report, const TerminalStyle& style) {
  const std::string head = headline_of(style, report);
  switch (style.detail) {
    case TerminalDetail::quiet: return head + quiet_failures(style, report);
    case TerminalDetail::normal: break;
    case TerminalDetail::verbose: return head + every_requirement(style, report) + measurements(report);
  }
  return head + failures_text(style, report) + exceptions_text(style, report) + measurements(report);
}

}  // namespace rope
