#include "tools/worker/client/orphans.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "tools/worker/protocol/file_descriptor.hpp"

namespace rope::worker {
namespace {

// A namespace ends within a millisecond. One that does not is looked at this often.
constexpr int milliseconds_between_looks = 20;

// A kernel that forks faster than it is killed must not block the suite.
constexpr int most_generations = 100;

// Empty if the process is gone. It may end between open and read; an iterator would throw then, a stream does not.
std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Of every thread: an orphan may be given to any thread.
std::vector<pid_t> children_of(const std::string& process) {
  std::vector<pid_t> result;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t pid = 0; list >> pid;) result.push_back(pid);
  }
  return result;
}

std::vector<pid_t> children() { return children_of("self"); }

// Those that this process had before its first worker.
const std::vector<pid_t>& own_children() {
  static const std::vector<pid_t> own = children();
  return own;
}

void end(pid_t pid) {
  ::kill(pid, SIGKILL);  // not waited for yet, so the number is still its own
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// 0: not known.
ino_t namespace_of(pid_t pid) {
  struct stat status {};
  return stat(fmt::format("/proc/{}/ns/pid", pid).c_str(), &status) == 0 ? status.st_ino : 0;
}

struct Status {
  char state = 0;
  pid_t group = 0;
  pid_t session = 0;
};

std::optional<Status> status_of(pid_t pid) {
  const std::string text = read_file(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = text.rfind(')');  // the name may hold anything
  if (name_end == text.npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  Status status;
  pid_t parent = 0;
  if (!(fields >> status.state >> parent >> status.group >> status.session)) return std::nullopt;
  return status;
}

bool has_mark(pid_t pid, const std::string& mark) {
  const std::string environment = read_file(fmt::format("/proc/{}/environ", pid));
  std::string_view rest = environment;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    if (entry == mark) return true;
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  }
  return false;
}

bool is_orphan(pid_t pid, const std::string& mark, pid_t group) {
  const std::optional<Status> status = status_of(pid);
  if (!status) return false;
  if (status->group == group) return true;
  // A process that has ended has no environment. What is started here stays in this session, so it came from a worker.
  if (status->state == 'Z') return status->session != getsid(0);
  return has_mark(pid, mark);
}

}  // namespace

void adopt_orphans() {
  static const bool can_list = std::filesystem::exists("/proc/thread-self/children");
  if (!can_list) return;
  own_children();
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void end_strangers() {
  const std::vector<pid_t>& own = own_children();
  for (int generation = 0; generation < most_generations; ++generation) {
    std::vector<pid_t> found = children();
    std::erase_if(found, [&](pid_t pid) { return std::ranges::find(own, pid) != own.end(); });
    if (found.empty()) return;
    for (const pid_t pid : found) end(pid);
  }
}

std::string new_mark() {
  static std::atomic<int> count{0};
  return fmt::format("ROPECHECK_MARK={}.{}", getpid(), ++count);
}

void end_orphans(const std::string& mark, pid_t group) {
  // Otherwise two threads could find the same ended process, and the second would signal its number's next owner.
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  for (int generation = 0; generation < most_generations; ++generation) {
    std::vector<pid_t> found = children();
    std::erase_if(found, [&](pid_t pid) { return !is_orphan(pid, mark, group); });
    if (found.empty()) return;
    for (const pid_t pid : found) end(pid);
  }
}

void end_namespace(pid_t init) {
  ::kill(init, SIGKILL);
  const FileDescriptor first(static_cast<int>(syscall(SYS_pidfd_open, init, 0)));
  pollfd watched{first.get(), POLLIN, 0};
  while (first && poll(&watched, 1, milliseconds_between_looks) <= 0) {
    const ino_t space = namespace_of(init);
    for (const pid_t pid : children()) {
      if (pid != init && space != 0 && namespace_of(pid) == space) end(pid);
    }
  }
  end(init);
}

}  // namespace rope::worker
