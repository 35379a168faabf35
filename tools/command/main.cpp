// ropecheck: conformance tests for rotary position embedding kernels.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "reference/input_error.hpp"
#include "tools/command/commands.hpp"
#include "tools/worker/client/subject_error.hpp"

namespace {

// What is wrong, in which command, and where to look. CLI11's own words if they name the argument.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  if (parsed.empty()) {
    const std::vector<std::string> rest = app.remaining();
    std::string known;
    for (const CLI::App* command : app.get_subcommands({})) known += (known.empty() ? "" : ", ") + command->get_name();
    if (rest.empty()) return fmt::format("no command was given; the commands are {}", known);
    return fmt::format("\"{}\" is not a command; the commands are {}", rest.front(), known);
  }
  const CLI::App& command = *parsed.front();
  std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string extra = command.remaining(true).front();
    what = fmt::format("{} \"{}\"", extra.starts_with('-') ? "unknown option" : "unexpected argument", extra);
  }
  for (const CLI::Option* option : command.get_options()) {
    if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr && what.find(option->get_name()) != what.npos) {
      what += fmt::format("; expected {}", option->get_type_name());
    }
  }
  return fmt::format("{}: {}; see `ropecheck {} --help`", command.get_name(), what, command.get_name());
}

int stdout_is_lost() {
  fmt::print(stderr, "ropecheck: cannot write to stdout, the output is lost; is the disk full?\n");
  return rope::exit_bad_input;
}

int run(int argc, char** argv) {
  CLI::App app{
      "Conformance tests for rotary position embedding (RoPE) kernels.\n"
      "Exit codes: 0 conforms; 1 does not conform; 2 usage or bad input; 3 the subject could not be started; "
      "4 incomplete."};
  app.set_version_flag("--version", ROPECHECK_VERSION);
  app.require_subcommand(1);
  const rope::Action actions[] = {rope::add_verify(app), rope::add_identify(app), rope::add_plan(app),
                                  rope::add_replay(app), rope::add_golden(app),   rope::add_vectors(app),
                                  rope::add_list(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    fmt::print(stderr, "ropecheck: {}\n", usage_error(app, error));
    return rope::exit_bad_input;
  }
  for (const rope::Action& action : actions) {
    if (const int code = action(); code >= 0) return code;
  }
  return rope::exit_bad_input;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    // A report that was not written completely must not look like a complete one.
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? code : stdout_is_lost();
  } catch (const rope::InputError& error) {
    fmt::print(stderr, "ropecheck: {}\n", error.what());
    return rope::exit_bad_input;
  } catch (const rope::SubjectError& error) {
    fmt::print(stderr, "ropecheck: {}\n", error.what());
    return rope::exit_no_subject;
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return stdout_is_lost();
    fmt::print(stderr, "ropecheck: internal error, please report it: {}\n", error.what());
    return rope::exit_bad_input;
  }
}
