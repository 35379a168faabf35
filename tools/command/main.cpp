// ropecheck: conformance tests for rotary position embedding kernels.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>

#include "reference/input_error.hpp"
#include "tools/command/application.hpp"
#include "tools/command/print_text.hpp"
#include "tools/judge/call/busy_machine.hpp"
#include "tools/judge/call/stop.hpp"
#include "tools/worker/client/subject_error.hpp"

namespace {

int stdout_is_lost(int code) {
  rope::print_text(stderr,
                   "ropecheck: cannot write to stdout, the output is lost; is the disk full, or did its reader end?\n");
  return code == rope::exit_fails ? code : int{rope::exit_bad_input};
}

}  // namespace

// Every call has tensors of its own. Returned to the system after each call, they would come back page by page: a page
// fault for every 4 KiB. Only the largest ones are returned, because few calls have such.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

// If a standard stream is closed, the next file that is opened would get its number, and reports would go there: into a
// subject's inputs, for example. Writing to stdout still fails, because it is open for reading; that is told at the end.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    if (open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY) != stream) _exit(rope::exit_bad_input);
  }
}

// What the caller has open, a terminal's log or a file of secrets, is not for subjects.
void keep_files_from_subjects() {
  constexpr unsigned first = STDERR_FILENO + 1, last = ~0u;
  if (syscall(SYS_close_range, first, last, CLOSE_RANGE_CLOEXEC) == 0) return;
  const long most = std::min<long>(sysconf(_SC_OPEN_MAX), 1 << 16);  // before Linux 5.11
  for (int file = first; file < most; ++file) fcntl(file, F_SETFD, FD_CLOEXEC);
}

// A subject runs as the same user. It must not stop this process, read it or write to it: the verdicts are here.
void refuse_tracing() { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int main(int argc, char** argv) {
  occupy_standard_streams();
  keep_files_from_subjects();
  refuse_tracing();
  keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN);  // writing then fails with a sentence, as on a full disk
  try {
    const int code = rope::Application().run({argv + (argc > 0 ? 1 : 0), argv + argc});
    // A report that was not written completely must not look like a complete one.
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? code : stdout_is_lost(code);
  } catch (const rope::InputError& error) {
    rope::print_text(stderr, "ropecheck: {}\n", error.what());
    return rope::exit_bad_input;
  } catch (const rope::Interrupted&) {
    rope::print_text(stderr, "ropecheck: interrupted\n");
    return rope::exit_incomplete;
  } catch (const rope::BusyMachine& error) {
    rope::print_text(stderr, "ropecheck: incomplete: {}\n", error.what());
    return rope::exit_incomplete;
  } catch (const rope::SubjectError& error) {
    rope::print_text(stderr, "ropecheck: {}\n", error.what());
    return rope::exit_no_subject;
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return stdout_is_lost(rope::exit_bad_input);
    rope::print_text(stderr, "ropecheck: internal error, please report it: {}\n", error.what());
    return rope::exit_bad_input;
  }
}
