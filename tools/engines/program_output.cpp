#include "tools/engines/program_output.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace rope::engines {
namespace {

// A file, because a pipe that nobody reads fills up.
class KeptText {
 public:
  KeptText() = default;
  KeptText(const KeptText&) = delete;
  KeptText& operator=(const KeptText&) = delete;
  ~KeptText() { close(file_); }

  int descriptor() const { return file_; }

  std::string text() const {
    std::string result(static_cast<std::size_t>(lseek(file_, 0, SEEK_END)), '\0');
    const ssize_t count = pread(file_, result.data(), result.size(), 0);
    result.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return result;
  }

 private:
  int file_ = memfd_create("output", MFD_CLOEXEC);
};

}  // namespace

ProgramOutput output_of(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const KeptText out, err;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.descriptor(), STDERR_FILENO);
  ProgramOutput result;
  pid_t pid = -1;
  result.start_error = posix_spawnp(&pid, pointers[0], &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (result.start_error != 0) return result;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = out.text();
  result.err = err.text();
  return result;
}

}  // namespace rope::engines
