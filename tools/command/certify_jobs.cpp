#include "tools/command/certify_jobs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "reference/input_error.hpp"

namespace rope {
namespace {

constexpr int milliseconds_between_looks = 100;

pid_t start(std::vector<std::string> words) {
  words.insert(words.begin(), "ropecheck");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/proc/self/exe", &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw InputError(fmt::format("a process of ropecheck cannot be started: {}", std::strerror(error)));
  return pid;
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

std::vector<int> run_side_by_side(const std::vector<std::vector<std::string>>& commands, const Stop& stop,
                                  const std::function<void()>& meanwhile) {
  std::vector<pid_t> running;
  for (const std::vector<std::string>& words : commands) running.push_back(start(words));
  std::vector<int> codes(running.size(), -1);
  bool was_told = false;
  for (std::size_t left = running.size(); left > 0;) {
    if (stop.requested() && !was_told) {
      for (const pid_t pid : running) {
        if (pid > 0) kill(pid, SIGTERM);
      }
      was_told = true;
    }
    pollfd request{stop.descriptor(), POLLIN, 0};
    poll(&request, was_told ? 0 : 1, milliseconds_between_looks);
    for (std::size_t i = 0; i < running.size(); ++i) {
      int status = 0;
      if (running[i] <= 0 || waitpid(running[i], &status, WNOHANG) != running[i]) continue;
      codes[i] = code_of(status);
      running[i] = -1;
      --left;
    }
    meanwhile();
  }
  return codes;
}

}  // namespace rope
