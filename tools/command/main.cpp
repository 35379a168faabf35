// ropecheck: conformance tests for rotary position embedding kernels.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "reference/input_error.hpp"
#include "tools/command/commands.hpp"
#include "tools/worker/subject_error.hpp"

namespace {

int run(int argc, char** argv) {
  CLI::App app{
      "Conformance tests for rotary position embedding (RoPE) kernels.\n"
      "Exit codes: 0 conforms; 1 does not conform; 2 usage or bad input; 3 the subject could not be started; "
      "4 incomplete."};
  app.set_version_flag("--version", ROPECHECK_VERSION);
  app.require_subcommand(1);
  const rope::Action actions[] = {rope::add_verify(app), rope::add_replay(app), rope::add_golden(app),
                                  rope::add_list(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? rope::exit_conforms : rope::exit_bad_input;
  }
  for (const rope::Action& action : actions) {
    if (const int code = action(); code >= 0) return code;
  }
  return rope::exit_bad_input;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const rope::InputError& error) {
    fmt::print(stderr, "ropecheck: {}\n", error.what());
    return rope::exit_bad_input;
  } catch (const rope::SubjectError& error) {
    fmt::print(stderr, "ropecheck: {}\n", error.what());
    return rope::exit_no_subject;
  } catch (const std::exception& error) {
    fmt::print(stderr, "ropecheck: internal error, please report it: {}\n", error.what());
    return rope::exit_bad_input;
  }
}
