#include "tools/report/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/judge/run/explain.hpp"
#include "tools/report/failure_blocks.hpp"
#include "tools/report/terminal.hpp"
#include "tools/report/tried_words.hpp"

namespace rope {
namespace {

constexpr std::size_t room_for_the_line = 300;  // for the line that says what was left out

// Text that is read as it stands, even in a table.
std::string plain(const std::string& text) {
  constexpr std::string_view special = "\\`*_[]|~#";
  std::string result;
  for (const char letter : html_text(text)) {
    if (special.find(letter) != special.npos) result += '\\';
    result += letter;
  }
  return result;
}

// A fence that the text cannot close.
std::string code_block(const std::string& text) {
  std::size_t longest = 0, run = 0;
  for (const char letter : text) {
    run = letter == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  const std::string shown = printable(text);
  return fmt::format("{}text\n{}{}{}\n", fence, shown, shown.ends_with('\n') ? "" : "\n", fence);
}

std::string verdict_cell(Verdict verdict) {
  const std::string_view word = name(verdict);
  const bool bad = verdict == Verdict::fail || verdict == Verdict::unexpected_pass;
  return bad ? fmt::format("**{}**", word) : std::string(word);
}

std::string cases_cell(const RequirementResult& result) {
  if (result.left_out == 0) return std::to_string(result.cases);
  return fmt::format("{} of {}", result.cases, result.cases + result.left_out);
}

// What needs a look first.
int rank(const SubjectReport& report) { return report.count(Verdict::fail) > 0 ? 0 : report.as_expected() ? 2 : 1; }

std::vector<const SubjectReport*> worst_first(const RunReport& run) {
  std::vector<const SubjectReport*> subjects;
  for (const SubjectReport& report : run.subjects) subjects.push_back(&report);
  std::ranges::stable_sort(subjects, {}, [](const SubjectReport* report) { return rank(*report); });
  return subjects;
}

std::string measured_cell(const RequirementResult& result) {
  const std::string worst = worst_words(result), reached = reached_words(result);
  return worst + (worst.empty() || reached.empty() ? "" : "; ") + reached;
}

std::string overview(const RunReport& run, std::size_t limit) {
  std::string text = "| subject | verdict | diagnosis | requirements |\n| --- | --- | --- | --- |\n";
  std::size_t left_out = 0;
  const auto add = [&](const std::string& subject, const std::string& verdict, const std::string& why,
                       const std::string& counts) {
    const std::string row = fmt::format("| {} | {} | {} | {} |\n", plain(subject), verdict, plain(why), counts);
    if (text.size() + row.size() > limit) {
      ++left_out;
    } else {
      text += row;
    }
  };
  for (const RefusedSubject& one : run.refused) add(one.subject, "**refused**", one.why, "");
  for (const SubjectReport* report : worst_first(run)) {
    const std::string verdict = plain(verdict_words(*report));
    add(title_of(*report), rank(*report) == 0 ? fmt::format("**{}**", verdict) : verdict,
        report->diagnosis     ? diagnosis_words(*report->diagnosis)
        : report->unsupported ? unsupported_words(*report->unsupported)
                              : "",
        count_words(*report));
  }
  for (const std::string& subject : run.not_judged) add(subject, "interrupted before it was judged", "", "");
  if (left_out > 0) text += fmt::format("\n.. and {} more subjects\n", left_out);
  return text;
}

std::string table(const SubjectReport& report, bool (*is_wanted)(Verdict verdict)) {
  std::string rows;
  for (const RequirementResult& result : report.results) {
    if (!is_wanted(result.verdict)) continue;
    const std::string& why = result.lacks.empty() ? result.reason : result.lacks;
    const std::string reason = why.empty() ? "" : ": " + plain(why);
    rows += fmt::format("| {} | {} | {}{} | {} | {} |\n", result.id, plain(result.sentence),
                        verdict_cell(result.verdict), reason, cases_cell(result), measured_cell(result));
  }
  if (rows.empty()) return "";
  return "\n| id | requirement | verdict | cases | worst |\n| --- | --- | --- | ---: | --- |\n" + rows;
}

bool needs_no_look(Verdict verdict) { return verdict == Verdict::pass || verdict == Verdict::not_claimed; }

std::string folded(const std::string& summary, const std::string& text) {
  return fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n", html_text(summary), text);
}

std::string head(const SubjectReport& report) {
  std::string text =
      fmt::format("\n## {}\n\n**{}**: {}; {}, {}, {:.1f} s, level {}, seed {}", plain(title_of(report)),
                  plain(verdict_words(report)), count_words(report), counted(report.executed(), "case"),
                  counted(report.calls, "call"), report.seconds, name(report.selection.level), report.selection.seed);
  const std::vector<std::string> required = required_words(report.selection);
  if (!required.empty()) text += fmt::format("; required: {}", fmt::join(required, ", "));
  if (!report.selection.only.empty()) text += fmt::format("; only {}", fmt::join(report.selection.only, ", "));
  if (report.selection.spec) text += fmt::format("; {}", plain(spec_words(report.selection)));
  text += "\n\n";
  for (const MeasuredGrade& grade : report.grades) {
    text += fmt::format("- {}: {}\n", name(grade.dtype), grade_words(grade));
  }
  for (const Horizon& horizon : report.horizons) {
    text += fmt::format("- {}: {}\n", name(horizon.dtype), horizon_words(horizon));
  }
  if (!report.permitted_variants.empty()) {
    text +=
        fmt::format("- permitted variants: {}\n", plain(fmt::format("{}", fmt::join(report.permitted_variants, "; "))));
  }
  for (const std::string& words : few_tried_lines(report.tried)) text += fmt::format("- tried {}\n", plain(words));
  if (!report.claims_note.empty()) text += fmt::format("- claims: {}\n", plain(report.claims_note));
  if (!report.ended_by.empty()) text += fmt::format("- ended early: {}\n", plain(report.ended_by));
  if (const std::string left_out = budget_words(report); !left_out.empty()) text += fmt::format("- {}\n", left_out);
  if (const std::string hangs = hang_words(report.recovered_hangs, report.calls); !hangs.empty()) {
    text += fmt::format("- hangs: {}\n", hangs);
  }
  if (const std::string slow = slow_words(report); !slow.empty()) text += fmt::format("- slow: {}\n", plain(slow));
  if (report.unsupported) text += fmt::format("\nunsupported: {}\n", plain(unsupported_words(*report.unsupported)));
  if (report.diagnosis) {
    text += "\n" + code_block(fmt::format("{}", fmt::join(diagnosis_lines(*report.diagnosis), "\n")));
  }
  if (report.conforms_without) {
    text += fmt::format("\nclaims: {}\n", plain(conforms_without_words(*report.conforms_without)));
  }
  text += table(report, [](Verdict verdict) { return !needs_no_look(verdict); });
  const std::string rest = table(report, needs_no_look);
  const std::string summary =
      fmt::format("{} passed, {} not claimed", report.count(Verdict::pass), report.count(Verdict::not_claimed));
  return rest.empty() ? text : text + folded(summary, rest);
}

std::string details_of(const FailureBlock& block, const SubjectReport& report) {
  const RequirementResult& first = block.first();
  const std::string summary =
      fmt::format("{}: {}. {}", fmt::join(block.ids(), ", "), name(first.verdict), first.sentence);
  return folded(summary, "\n" + code_block(block_lines(block, report)));
}

// A block for each smallest case; notes and expected failures each by itself.
std::vector<FailureBlock> all_blocks(const SubjectReport& report) {
  std::vector<FailureBlock> blocks = blocks_of(report);
  for (const RequirementResult& result : report.results) {
    if (result.failure && result.verdict != Verdict::fail) blocks.push_back({{&result}, {}, false});
  }
  return blocks;
}

std::string left_out_line(std::size_t subjects, std::size_t failures, std::size_t limit) {
  if (subjects + failures == 0) return "";
  return fmt::format(
      "\n**{} failures and notes and the tables of {} subjects are left out: this page would be longer than {} bytes. "
      "The report of `--json` has all of them.**\n",
      failures, subjects, limit);
}

}  // namespace

std::string markdown_report(const RunReport& run, std::size_t limit) {
  const std::string title = fmt::format("# ropecheck {}\n\n", run.version);
  const std::string top = overview(run, limit / 2);
  std::size_t size = title.size() + top.size() + room_for_the_line;
  const auto fits = [&](const std::string& text) {
    if (size + text.size() > limit) return false;
    size += text.size();
    return true;
  };
  // Every subject comes before the first failure: a verdict says more than one more case of a known failure.
  const std::vector<const SubjectReport*> subjects = worst_first(run);
  std::vector<std::string> sections;
  std::vector<const SubjectReport*> shown;
  for (const SubjectReport* report : subjects) {
    const std::string section = head(*report);
    if (!fits(section)) continue;
    sections.push_back(section);
    shown.push_back(report);
  }
  std::size_t failures_left_out = 0;
  for (const SubjectReport* report : subjects) {
    const auto at = std::ranges::find(shown, report);
    for (const FailureBlock& block : all_blocks(*report)) {
      const std::string text = details_of(block, *report);
      if (at == shown.end() || !fits(text)) {
        failures_left_out += block.ids().size();
      } else {
        sections[static_cast<std::size_t>(at - shown.begin())] += text;
      }
    }
  }
  std::string page = title + top + left_out_line(run.subjects.size() - shown.size(), failures_left_out, limit);
  for (const std::string& section : sections) page += section;
  return page;
}

}  // namespace rope
