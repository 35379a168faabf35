// half_split, which hangs from one of its calls on, for the tests of an interruption. The file $HANGING_CALLS gets a
// byte for each call in any process, and $HANGING_CALLS.hung one for each that hangs. $HANGING_FROM is the first call
// that hangs; 0: the library hangs while it is loaded. With $HANGING_WRONG it is wrong in place, and with "shrinking"
// there it hangs after the first wrong call. Another kernel hangs in every 50th call of a process.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "impls/builtin.hpp"

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// How often this was called for the file, in all processes.
long count_in(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  struct stat status {};
  if (file < 0 || write(file, ".", 1) != 1 || fstat(file, &status) != 0) abort();
  close(file);
  return static_cast<long>(status.st_size);
}

[[noreturn]] void hang() {
  count_in(variable("HANGING_CALLS") + ".hung");
  for (;;) pause();
}

[[maybe_unused]] const bool loaded = [] {
  if (variable("HANGING_FROM") == "0") hang();
  return true;
}();

int32_t apply(const rope_call* call) {
  static bool was_wrong = false;
  const long number = count_in(variable("HANGING_CALLS"));
  const std::string from = variable("HANGING_FROM"), wrong = variable("HANGING_WRONG");
  if (was_wrong && wrong == "shrinking") hang();
  if (!from.empty() && number >= std::stol(from)) hang();
  const int32_t status = rope::half_split_kernel().apply(call);
  if (wrong.empty() || call->q.data != call->q_out.data) return status;
  was_wrong = true;
  *static_cast<float*>(call->q_out.data) += 1;
  return status;
}

int32_t every_50th(const rope_call* call) {
  static int calls = 0;
  if (++calls % 50 == 0) {
    for (;;) pause();
  }
  return rope::half_split_kernel().apply(call);
}

}  // namespace

extern "C" uint32_t rope_kernel_count(void) { return 2; }

extern "C" const rope_kernel* rope_kernel_get(uint32_t index) {
  static rope_kernel kernel = rope::half_split_kernel();
  kernel.name = "hanging";
  kernel.apply = apply;
  static rope_kernel sometimes = rope::half_split_kernel();
  sometimes.name = "every_50th";
  sometimes.apply = every_50th;
  return index == 0 ? &kernel : index == 1 ? &sometimes : nullptr;
}
