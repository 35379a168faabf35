#include "tools/report/expected_failures.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"

namespace rope {
namespace {

constexpr const char* blanks = " \t\r";

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// Where the reason begins: at a # after a blank or at the beginning, because "lib.so#kernel" has a # too.
std::size_t reason_at(const std::string& line) {
  for (std::size_t at = line.find('#'); at != line.npos; at = line.find('#', at + 1)) {
    if (at == 0 || std::strchr(blanks, line[at - 1]) != nullptr) return at;
  }
  return line.npos;
}

bool matches(const std::string& pattern, const std::string& subject) {
  return pattern == subject || fnmatch(pattern.c_str(), subject.c_str(), 0) == 0;
}

}  // namespace

ExpectedFailures::ExpectedFailures(const std::filesystem::path& file) : file_(file) {
  std::ifstream stream(file);
  const int error = errno;  // the stream's, if it did not open; else left over from before
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(file, ignored);
  if (!stream || is_folder) {
    throw InputError(fmt::format("--expected-failures: {} cannot be read: {}; give a file with a requirement a line",
                                 file.string(), std::strerror(is_folder ? EISDIR : error)));
  }
  std::size_t number = 0;
  for (std::string text; std::getline(stream, text);) {
    Line line;
    line.number = ++number;
    const std::size_t mark = reason_at(text);
    if (mark != text.npos) line.reason = trimmed(text.substr(mark + 1));
    const std::string words = trimmed(text.substr(0, mark));
    if (words.empty()) continue;
    // The last word is the requirement: a subject's name may hold blanks.
    const std::size_t blank = words.find_last_of(blanks);
    line.requirement = words.substr(blank == words.npos ? 0 : blank + 1);
    if (blank != words.npos) line.subjects = trimmed(words.substr(0, blank));
    try {
      line.requirement = requirement_called(line.requirement).id;
    } catch (const InputError& unknown) {
      throw InputError(
          fmt::format("{}:{}: {}; a line is REQUIREMENT or SUBJECT-PATTERN REQUIREMENT, then possibly "
                      "a blank, # and the reason",
                      file.string(), number, unknown.what()));
    }
    lines_.push_back(line);
  }
}

void ExpectedFailures::check_subjects(const std::vector<std::string>& subjects) const {
  for (const Line& line : lines_) {
    const bool used = std::any_of(subjects.begin(), subjects.end(),
                                  [&](const std::string& subject) { return matches(line.subjects, subject); });
    if (used) continue;
    throw InputError(fmt::format("{}:{}: no subject that is judged matches \"{}\"; they are {}", file_.string(),
                                 line.number, line.subjects, fmt::join(subjects, ", ")));
  }
}

std::map<std::string, std::string> ExpectedFailures::of(const std::string& subject) const {
  std::map<std::string, std::string> reasons;
  for (const Line& line : lines_) {
    if (matches(line.subjects, subject)) reasons.emplace(line.requirement, line.reason);
  }
  return reasons;
}

}  // namespace rope
