#include "tools/command/python_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "reference/input_error.hpp"
#include "tools/command/command_words.hpp"
#include "tools/command/option_values.hpp"
#include "tools/worker/client/program_files.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view expected =
    "expected python:package.module:function [--convention NAME] [--device cpu|cuda] [--python FILE]";

bool is_python(const std::string& subject) { return subject.starts_with(python_prefix); }

// A variable that is set to nothing counts as not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Quoted, so that command_words() reads it back as one word.
std::string quoted(const std::string& word) {
  const bool is_plain = std::all_of(word.begin(), word.end(),
                                    [](unsigned char c) { return std::isalnum(c) || std::strchr("_./+-:", c); });
  if (is_plain) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

bool gives(const std::string& subject, std::string_view option) {
  const std::vector<std::string> words = command_words(subject);
  return std::find(words.begin(), words.end(), option) != words.end();
}

bool is_target(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != text.npos && colon > 0 && colon + 1 < text.size() && text.find(':', colon + 1) == text.npos;
}

}  // namespace

void PythonOptions::add_to(CLI::App& command) {
  const char* group = "Kernels in Python";
  command
      .add_option("--python", python_,
                  "the interpreter; default: $ROPECHECK_PYTHON, then the one in $VIRTUAL_ENV, then python3 in PATH")
      ->type_name(kinds::file)
      ->group(group);
  command.add_option("--convention", convention_, "how the function is called: `ropecheck list conventions`")
      ->type_name(kinds::convention)
      ->group(group);
  takes_one_of(command.add_option("--device", device_,
                                  "where its tensors are (cuda: torch and JAX); default: as it declares"),
               {"cpu", "cuda"})
      ->group(group);
}

std::vector<std::string> PythonOptions::named(std::vector<std::string> subjects) const {
  for (const auto& [option, value] :
       {std::pair("--convention", convention_), {"--device", device_}, {"--python", python_}}) {
    if (value.empty()) continue;
    if (std::none_of(subjects.begin(), subjects.end(), is_python)) {
      throw InputError(fmt::format("{} goes with a kernel in Python; {}", option, expected));
    }
    for (std::string& subject : subjects) {
      if (is_python(subject) && !gives(subject, option)) subject += fmt::format(" {} {}", option, quoted(value));
    }
  }
  return subjects;
}

std::string default_python() {
  if (const std::string chosen = variable("ROPECHECK_PYTHON"); !chosen.empty()) return chosen;
  if (const std::string folder = variable("VIRTUAL_ENV"); !folder.empty()) return folder + "/bin/python";
  return "python3";
}

std::vector<std::string> python_environment() {
  // A wheel's program has no such folder: it lies within the package, and the interpreter that it was installed for
  // finds the package. For another interpreter the folder of packages around it would be wrong.
  const std::string package = program_file("python").string();
  if (std::error_code unreadable; !fs::exists(package, unreadable)) return {};
  const std::string others = variable("PYTHONPATH");
  return {"PYTHONPATH=" + package + (others.empty() ? "" : ":" + others)};
}

worker::Launch python_launch(const std::string& subject) {
  const std::vector<std::string> words = command_words(std::string_view(subject).substr(python_prefix.size()));
  const auto wrong = [&](std::string_view what) {
    throw InputError(fmt::format("subject \"{}\": {}; {}", subject, what, expected));
  };
  std::string target, python = default_python(), convention, device;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--python" || words[i] == "--convention" || words[i] == "--device") {
      if (i + 1 == words.size()) wrong(fmt::format("{} has no value", words[i]));
      (words[i] == "--python" ? python : words[i] == "--device" ? device : convention) = words[i + 1];
      ++i;
    } else if (target.empty() && is_target(words[i])) {
      target = words[i];
    } else {
      wrong(fmt::format("\"{}\" names no function of a module", words[i]));
    }
  }
  if (target.empty()) wrong("it names no function");
  worker::Launch launch{{python, "-m", "ropecheck.worker", target}, python_environment()};
  launch.program = worker::WorkerProgram::python;
  launch.environment.push_back("ROPECHECK_FAULTS=" + program_file("libropecheck_faults.so").string());
  const std::string stand_in = "ROPECHECK_CUDA_STAND_IN";
  if (const std::string device_of_tests = variable(stand_in.c_str()); !device_of_tests.empty()) {
    launch.environment.push_back(stand_in + "=" + device_of_tests);
  }
  if (!convention.empty()) launch.arguments.insert(launch.arguments.end(), {"--convention", convention});
  if (!device.empty()) launch.arguments.insert(launch.arguments.end(), {"--device", device});
  return launch;
}

}  // namespace rope
