#include "tools/report/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/judge/run/explain.hpp"
#include "tools/report/terminal.hpp"

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

std::string overview(const RunReport& run, std::size_t limit) {
  std::string text = "| subject | verdict | |\n| --- | --- | --- |\n";
  std::size_t left_out = 0;
  const auto add = [&](const std::string& row) {
    if (text.size() + row.size() > limit) {
      ++left_out;
    } else {
      text += row;
    }
  };
  for (const SubjectReport& report : run.subjects) {
    add(fmt::format("| {} | {} | {} |\n", plain(title_of(report)), plain(verdict_words(report)), count_words(report)));
  }
  for (const std::string& subject : run.not_judged) {
    add(fmt::format("| {} | interrupted before it was judged | |\n", plain(subject)));
  }
  for (const RefusedSubject& one : run.refused) {
    add(fmt::format("| {} | **refused** | {} |\n", plain(one.subject), plain(one.why)));
  }
  if (left_out > 0) text += fmt::format("\n.. and {} more subjects\n", left_out);
  return text;
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
  if (!report.claims_note.empty()) text += fmt::format("- claims: {}\n", plain(report.claims_note));
  if (report.conforms_without) {
    text += fmt::format("- claims: {}\n", plain(conforms_without_words(*report.conforms_without)));
  }
  if (!report.ended_by.empty()) text += fmt::format("- ended early: {}\n", plain(report.ended_by));
  if (const std::string left_out = budget_words(report); !left_out.empty()) text += fmt::format("- {}\n", left_out);
  if (const std::string hangs = hang_words(report.recovered_hangs, report.calls); !hangs.empty()) {
    text += fmt::format("- hangs: {}\n", hangs);
  }
  if (const std::string slow = slow_words(report); !slow.empty()) text += fmt::format("- slow: {}\n", plain(slow));
  if (report.diagnosis) {
    text += "\n" + code_block(fmt::format("{}", fmt::join(diagnosis_lines(*report.diagnosis), "\n")));
  }
  text += "\n| id | requirement | verdict | cases | worst |\n| --- | --- | --- | ---: | --- |\n";
  for (const RequirementResult& result : report.results) {
    const std::string reason = result.reason.empty() ? "" : ": " + plain(result.reason);
    text += fmt::format("| {} | {} | {}{} | {} | {} |\n", result.id, plain(result.sentence),
                        verdict_cell(result.verdict), reason, cases_cell(result), worst_words(result));
  }
  return text;
}

std::string details_of(const RequirementResult& result, const SubjectReport& report) {
  const Failure& failure = *result.failure;
  return fmt::format(
      "\n<details><summary>{}: {}. {}</summary>\n\n{}\n</details>\n", result.id, name(result.verdict),
      html_text(result.sentence),
      code_block(finding_lines(failure) + fmt::format("      failed    {} of {}\n", result.failed, counted(result.cases, "case")) +
                 replay_line(failure.minimal, report.subject, report.selection.grade)));
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
  const std::string table = overview(run, limit / 2);
  std::size_t size = title.size() + table.size() + room_for_the_line;
  const auto fits = [&](const std::string& text) {
    if (size + text.size() > limit) return false;
    size += text.size();
    return true;
  };
  // Every subject comes before the first failure: a verdict says more than one more case of a known failure.
  std::vector<std::string> sections;
  std::vector<const SubjectReport*> shown;
  for (const SubjectReport& report : run.subjects) {
    const std::string section = head(report);
    if (!fits(section)) continue;
    sections.push_back(section);
    shown.push_back(&report);
  }
  std::size_t failures_left_out = 0;
  for (const SubjectReport& report : run.subjects) {
    const auto at = std::find(shown.begin(), shown.end(), &report);
    for (const RequirementResult& result : report.results) {
      if (!result.failure) continue;
      const std::string text = details_of(result, report);
      if (at == shown.end() || !fits(text)) {
        ++failures_left_out;
      } else {
        sections[static_cast<std::size_t>(at - shown.begin())] += text;
      }
    }
  }
  std::string page = title + table + left_out_line(run.subjects.size() - shown.size(), failures_left_out, limit);
  for (const std::string& section : sections) page += section;
  return page;
}

}  // namespace rope
