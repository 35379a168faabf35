#include "tools/command/sandbox_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "reference/input_error.hpp"
#include "tools/command/option_values.hpp"
#include "tools/worker/client/program_files.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;

// One value each time that it is given: a list would swallow the subject behind it.
CLI::Option* may_be_repeated(CLI::Option* option) {
  return option->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void check_variables(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.find('=') == name.npos && !name.empty()) continue;
    throw InputError(
        fmt::format("--env {}: expected the name of a variable that is set, as in --env HF_HOME", name));
  }
}

}  // namespace

void SandboxOptions::add_to(CLI::App& command) {
  const char* group = "What a subject's process may touch (docs/security.md)";
  takes_one_of(command.add_option("--sandbox", mode_,
                                  "on: what the system offers; require: all of it, or the subject is not started"),
               {"off", "on", "require"})
      ->capture_default_str()
      ->group(group);
  may_be_repeated(
      command.add_option("--allow", allowed_, "a file or folder that it may read and write; may be repeated"))
      ->type_name(kinds::file)
      ->group(group);
  may_be_repeated(
      command.add_option("--env", variables_, "a variable that it gets besides the usual ones; may be repeated"))
      ->type_name("NAME")
      ->group(group);
}

void SandboxOptions::apply_to(WorkerOptions& options, const std::vector<fs::path>& reports) const {
  check_variables(variables_);
  if (mode_ == "off") {
    options.sandbox = nullptr;
    return;
  }
  sandbox::Policy policy;
  policy.mode = mode_ == "require" ? sandbox::Mode::require : sandbox::Mode::on;
  policy.variables = variables_;
  for (const std::string& path : allowed_) {
    if (!fs::exists(path)) throw InputError(fmt::format("--allow {}: no such file or folder", path));
    policy.allowed.push_back(fs::absolute(path));
  }
  policy.reports = reports;
  options.sandbox = std::make_shared<sandbox::Sandbox>(std::move(policy), program_file("ropecheck_sandbox"));
}

std::vector<std::string> SandboxOptions::words() const {
  std::vector<std::string> words{"--sandbox", mode_};
  for (const std::string& path : allowed_) words.insert(words.end(), {"--allow", path});
  for (const std::string& name : variables_) words.insert(words.end(), {"--env", name});
  return words;
}

std::optional<SandboxWords> sandbox_words(const WorkerOptions& options) {
  if (!options.sandbox) return SandboxWords{"off", {}, {}};
  if (!options.sandbox->was_used()) return std::nullopt;
  SandboxWords words{options.sandbox->policy().mode == sandbox::Mode::require ? "require" : "on",
                     options.sandbox->measures().applied,
                     {}};
  for (const sandbox::Missing& one : options.sandbox->measures().missing) {
    words.missing.emplace_back(one.measure, one.why);
  }
  return words;
}

}  // namespace rope
