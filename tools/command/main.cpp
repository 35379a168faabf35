// ropecheck: conformance tests for rotary position embedding kernels.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "reference/input_error.hpp"
#include "tools/command/application.hpp"
#include "tools/worker/client/subject_error.hpp"

namespace {

int stdout_is_lost() {
  fmt::print(stderr, "ropecheck: cannot write to stdout, the output is lost; is the disk full?\n");
  return rope::exit_bad_input;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = rope::Application().run({argv + (argc > 0 ? 1 : 0), argv + argc});
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
