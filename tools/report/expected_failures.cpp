#include "tools/report/expected_failures.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/report/read_file.hpp"

namespace rope {
namespace {

constexpr std::string_view blanks = " \t\r";
constexpr const char* form =
    "a line is [SUBJECT-PATTERN] REQUIREMENT [at LEVEL,..], then possibly a blank, # and the reason";

bool is_blank(char letter) { return blanks.find(letter) != blanks.npos; }

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// Where the reason begins: at a # after a blank or at the beginning, because "lib.so#kernel" has a # too.
std::size_t reason_at(const std::string& line) {
  for (std::size_t at = line.find('#'); at != line.npos; at = line.find('#', at + 1)) {
    if (at == 0 || is_blank(line[at - 1])) return at;
  }
  return line.npos;
}

// Takes the last word off. Only the last ones are looked at: a subject's name may hold blanks.
std::string take_last_word(std::string& words) {
  const std::size_t blank = words.find_last_of(blanks);
  const std::string last = words.substr(blank == words.npos ? 0 : blank + 1);
  words = blank == words.npos ? "" : trimmed(words.substr(0, blank));
  return last;
}

std::vector<Level> levels_called(const std::string& text) {
  std::vector<Level> levels;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::optional<Level> level = level_called(word);
    if (!level) throw InputError(fmt::format("level \"{}\" is not known; known are quick, full, exhaustive", word));
    levels.push_back(*level);
    begin = end + 1;
  }
  return levels;
}

bool matches(const std::string& pattern, const std::string& name) {
  return pattern == name || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

// A pattern that matches this name, as one line can hold it.
std::string pattern_of(const std::string& name) {
  std::string pattern;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char letter = name[i];
    const bool at_edge = i == 0 || i + 1 == name.size();
    if (letter == '\n' || (at_edge && is_blank(letter))) {
      pattern += '?';
    } else if (letter == '#' && (i == 0 || is_blank(name[i - 1]))) {
      pattern += "[#]";  // else a reason would begin here
    } else {
      if (std::strchr("*?[\\", letter) != nullptr) pattern += '\\';
      pattern += letter;
    }
  }
  return pattern;
}

bool fails(Verdict verdict) {
  return verdict == Verdict::fail || verdict == Verdict::expected_failure || verdict == Verdict::note;
}

bool passes(const RequirementResult& result) {
  return result.verdict == Verdict::unexpected_pass || (result.verdict == Verdict::pass && result.undecided.empty());
}

// On one line.
std::string reason_of(const RequirementResult& result) {
  const std::string worst = worst_words(result);
  return printable(fmt::format("{} of {} cases{}", result.failed, result.cases,
                               worst.empty() ? ": " + headline(explain(*result.failure)) : ", " + worst));
}

}  // namespace

bool ExpectedFailures::Line::applies_to(const std::string& subject, const Selection& selection) const {
  return !requirement.empty() && (matches(subjects, subject) || matches(subjects, title_of(subject, selection)));
}

bool ExpectedFailures::Line::names(Level level) const { return std::ranges::find(levels, level) != levels.end(); }

void ExpectedFailures::read_words(const std::string& words, Line& line) {
  std::string rest = words;
  line.requirement = take_last_word(rest);
  std::string before = rest;
  const bool is_at = take_last_word(before) == "at" && !before.empty();
  if (is_at && level_called(line.requirement.substr(0, line.requirement.find(',')))) {
    line.levels = levels_called(line.requirement);
    line.requirement = take_last_word(before);
    rest = before;
  }
  line.requirement = requirement_called(line.requirement).id;
  if (!rest.empty()) line.subjects = rest;
}

namespace {

std::string contents(const std::filesystem::path& file) try {
  return read_file(file.string(), fmt::format("--expected-failures: {}", file.string()));
} catch (const InputError& error) {
  throw InputError(fmt::format("{}; give a file with a requirement a line", error.what()));
}

}  // namespace

ExpectedFailures::ExpectedFailures(const std::filesystem::path& file) : file_(file) {
  std::istringstream stream(contents(file));
  for (std::string text; std::getline(stream, text);) {
    Line line;
    line.text = text;
    const std::size_t mark = reason_at(text);
    if (mark != text.npos) line.reason = trimmed(text.substr(mark + 1));
    const std::string words = trimmed(text.substr(0, mark));
    try {
      if (!words.empty()) read_words(words, line);
    } catch (const InputError& unknown) {
      throw InputError(fmt::format("{}:{}: {}; {}", file.string(), lines_.size() + 1, unknown.what(), form));
    }
    lines_.push_back(line);
  }
}

void ExpectedFailures::check_subjects(const std::vector<std::string>& subjects,
                                      const std::vector<Selection>& selections) const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    const bool used =
        line.requirement.empty() || std::ranges::any_of(subjects, [&](const std::string& subject) {
          return std::ranges::any_of(selections, [&](const Selection& s) { return line.applies_to(subject, s); });
        });
    if (used) continue;
    throw InputError(fmt::format("{}:{}: no subject that is judged matches \"{}\"; they are {}", file_.string(), i + 1,
                                 line.subjects, fmt::join(subjects, ", ")));
  }
}

std::map<std::string, ExpectedFailure> ExpectedFailures::of(const std::string& subject,
                                                            const Selection& selection) const {
  std::map<std::string, ExpectedFailure> known;
  for (const Line& line : lines_) {
    if (!line.applies_to(subject, selection)) continue;
    ExpectedFailure& failure = known.try_emplace(line.requirement, ExpectedFailure{line.reason, true}).first->second;
    if (line.levels.empty() || line.names(selection.level)) failure.may_pass = false;
  }
  return known;
}

std::string ExpectedFailures::written(const Line& line) {
  std::string text = line.subjects == "*" ? line.requirement : line.subjects + " " + line.requirement;
  for (std::size_t i = 0; i < line.levels.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? " at " : ",", name(line.levels[i]));
  }
  return line.reason.empty() ? text : fmt::format("{}  # {}", text, line.reason);
}

// None if the requirement passed, several if it passed for some of the line's subjects.
std::vector<ExpectedFailures::Line> ExpectedFailures::updated(const Line& line, const RunReport& run) {
  Line changed = line;
  std::vector<Line> failing;  // the line for each report in which it fails
  bool has_passed = false;
  for (const SubjectReport& report : run.subjects) {
    if (!line.applies_to(report.subject, report.selection)) continue;
    const Level level = report.selection.level;
    for (const RequirementResult& result : report.results) {
      if (result.id != line.requirement) continue;
      if (fails(result.verdict)) {
        failing.push_back(line);
        failing.back().subjects = pattern_of(title_of(report));
        if (!line.levels.empty()) failing.back().levels = {level};
        if (!line.levels.empty() && !changed.names(level)) changed.levels.push_back(level);
      } else if (passes(result) && (line.levels.empty() || line.names(level))) {
        has_passed = true;
      }
    }
  }
  if (!has_passed) {
    changed.text = changed.levels == line.levels ? line.text : written(changed);
    return {changed};
  }
  // The levels of this run are the same for all its reports.
  if (!line.levels.empty()) std::erase(changed.levels, run.subjects.front().selection.level);
  std::vector<Line> lines;
  if (!changed.levels.empty()) lines.push_back(changed);
  lines.insert(lines.end(), failing.begin(), failing.end());
  for (Line& each : lines) each.text = written(each);
  return lines;
}

ExpectedFailures::Update ExpectedFailures::updated(const RunReport& run) const {
  Update update;
  if (lines_.empty()) update.text = "# Known failures; ropecheck verify --write-expected-failures wrote this list.\n";
  for (const Line& line : lines_) {
    const std::vector<Line> lines = line.requirement.empty() ? std::vector{line} : updated(line, run);
    if (lines.empty()) ++update.removed;
    for (const Line& each : lines) update.text += each.text + "\n";
  }
  for (const SubjectReport& report : run.subjects) {
    for (const RequirementResult& result : report.results) {
      if (result.verdict != Verdict::fail) continue;  // all others are notes, or stand in the list
      Line line;
      line.subjects = pattern_of(title_of(report));
      line.requirement = result.id;
      line.levels = {report.selection.level};
      line.reason = reason_of(result);
      update.text += written(line) + "\n";
      ++update.added;
    }
  }
  return update;
}

}  // namespace rope
