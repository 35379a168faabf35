// What the tests of every command share: checks of an error message, a line of a report, a quick run.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/command/program.hpp"
#include "tests/unit/places.hpp"

namespace rope {

using Words = Program::Words;

inline const std::string mutants = (build_folder() / "mutants.so").string();

inline void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Processes that inherited the variable, besides this one.
inline std::vector<pid_t> processes_with(const std::string& variable) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (read(entry.path() / "environ").find(variable) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

// Checks the answer to a mistake: the exit code, nothing on stdout, and on stderr a readable message with every one of
// the words.
inline void check_refused(int exit_code, const Words& command, const Words& expected, const Words& variables = {}) {
  const Result result = ropecheck(command, variables);
  CAPTURE(command);
  CHECK(result.exit_code == exit_code);
  CHECK(result.out.empty());
  for (const std::string& words : expected) CHECK_THAT(result.err, Catch::Contains(words));
  CHECK_THAT(result.err, Catch::StartsWith("ropecheck: ") && Catch::EndsWith("\n"));
  CHECK_THAT(result.err, !Catch::Contains("internal error"));
}

// One line of a report, "  ROT-01  FAIL ..".
inline std::string line_with(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

// A run of all requirements: seconds, most of them for the large tensors of SHP-01 and DET-03.
inline Words verify_all(const Words& words, const Words& more = {}) {
  Words command{"verify"};
  for (const Words& some : {words, Words{"--head-dim", "8", "--dtype", "f32", "--level", "quick"}, more})
    command.insert(command.end(), some.begin(), some.end());
  return command;
}

// For tests of reports and exit codes, not of a verdict: answers in a tenth of a second.
inline Words verify(const Words& words, Words more = {}) {
  if (std::find(more.begin(), more.end(), "--only") == more.end())
    more.insert(more.end(), {"--only", "ROT,ANG-01,ANG-02"});
  more.push_back("--no-diagnosis");
  return verify_all(words, more);
}

// What the kernels of these tests read and write.
inline Words open_for_tests(const TemporaryFolder& folder) {
  Words words{"--allow", folder.path().string()};
  for (const char* name : {"MARK_OF_A_TEST", "HANGING_CALLS", "HANGING_FROM", "HANGING_WRONG"}) {
    words.insert(words.end(), {"--env", name});
  }
  return words;
}

}  // namespace rope
