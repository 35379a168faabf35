#include "tools/worker/client/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "tools/worker/client/living_workers.hpp"
#include "tools/worker/client/orphans.hpp"
#include "tools/worker/client/process_limits.hpp"
#include "tools/worker/client/subject_error.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope::worker {
namespace {

using Clock = std::chrono::steady_clock;

// High numbers: a kernel that closes what it takes for its own files does no harm.
// The last five are closed before the worker's own program starts.
enum WorkerFd {
  protocol_fd = 200,
  inputs_fd,
  outputs_fd,
  life_fd,
  told_fd,
  ruleset_fd,
  filter_fd,
  refusals_fd,
  writable_fd,
  end_of_worker_fds
};

constexpr std::size_t kept_output = 4096;
constexpr std::chrono::milliseconds end_after_disconnection{200};
// What is shorter is not watched: most calls take less than a look at the clock. After that, a look at least so often.
constexpr std::chrono::milliseconds longest_unwatched{100}, longest_between_looks{1000}, shortest_between_looks{5};
constexpr std::chrono::milliseconds longest_send{2000};  // a message is smaller than what the system keeps for a reader

[[noreturn]] void fail(int error, const std::string& what) {
  throw SubjectError(fmt::format("{}: {}", what, std::strerror(error)));
}

// Above the worker's numbers, so that moving one into place never overwrites another.
FileDescriptor lifted(int fd) {
  FileDescriptor high(fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(end_of_worker_fds)));
  if (!high) fail(errno, "preparing a worker's files (it needs 230 of them; see `ulimit -n`)");
  return high;
}

FileDescriptor lifted(const FileDescriptor& fd) { return lifted(fd.get()); }

struct Pair {
  FileDescriptor ours;
  FileDescriptor theirs;
};

Pair connection_pair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) fail(errno, "a connection to a worker");
  return {FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

// `we_read`: `ours` is the end that reads, else the end that writes.
Pair pipe_pair(bool we_read) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) fail(errno, "a pipe to a worker");
  return {FileDescriptor(fds[we_read ? 0 : 1]), FileDescriptor(fds[we_read ? 1 : 0])};
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  void give(const FileDescriptor& fd, int number) {
    if (const int error = posix_spawn_file_actions_adddup2(&actions, fd.get(), number)) fail(error, "a worker's files");
  }

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

namespace {

// Our own, without ROPECHECK_ variables and without those that are replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "=") + 1);
    const bool is_replaced = std::any_of(added.begin(), added.end(), [&](const std::string& other) {
      return other.starts_with(name);  // of two entries with the same name the first would count
    });
    if (!name.starts_with("ROPECHECK_") && !is_replaced) result.emplace_back(*entry);
  }
  result.insert(result.end(), added.begin(), added.end());
  return result;
}

sandbox::Sandbox::Entry entry_of(const Launch& launch) {
  std::vector<std::string> variables = launch.environment;
  variables.push_back(fmt::format("ROPECHECK_WORKER=v={} protocol={} inputs={} outputs={} life={}", wire::version,
                                  int{protocol_fd}, int{inputs_fd}, int{outputs_fd}, int{life_fd}));
  if (!launch.sandbox) return {launch.arguments, environment_with(variables)};
  try {
    return launch.sandbox->entry(launch.arguments, variables,
                                 {told_fd, life_fd, ruleset_fd, filter_fd, refusals_fd, writable_fd}, launch.filtered);
  } catch (const std::exception& error) {
    throw SubjectError(error.what());
  }
}

[[noreturn]] void fail_to_start(const Launch& launch, int error) {
  fail(error, fmt::format("the worker program {} cannot be started", launch.arguments.at(0)));
}

[[noreturn]] void fail_to_enter(const Launch& launch, const sandbox::Message& failure) {
  if (failure.what == sandbox::Told::program_failed) fail_to_start(launch, failure.number);
  throw SubjectError(fmt::format("the sandbox of a worker: {}; --sandbox off does without", words_of(failure)));
}

void wait_for(pid_t pid, int* status) {
  while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

WorkerProcess::WorkerProcess(const Launch& launch, const SharedMemory& inputs, const SharedMemory& outputs,
                             const Stop* stop)
    : stop_(stop) {
  throw_if_requested(stop_);
  Pair connection = connection_pair();
  Pair output = pipe_pair(true);
  Pair life = pipe_pair(false);
  SpawnSetup setup;
  const FileDescriptor their_connection = lifted(connection.theirs);
  const FileDescriptor their_inputs = lifted(inputs.open_read_only());
  const FileDescriptor their_outputs = lifted(outputs.open_writable());
  const FileDescriptor their_life = lifted(life.theirs);
  const FileDescriptor their_output = lifted(output.theirs);
  posix_spawn_file_actions_addopen(&setup.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  setup.give(their_output, STDOUT_FILENO);
  setup.give(their_output, STDERR_FILENO);
  setup.give(their_connection, protocol_fd);
  setup.give(their_inputs, inputs_fd);
  setup.give(their_outputs, outputs_fd);
  setup.give(their_life, life_fd);

  start(launch, setup);
  process_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!process_) {
    const int error = errno;
    kill();
    fail(error, "watching a worker (pidfd_open, Linux 5.3 or later)");
  }
  expect_crashes(pid_);
  connection_ = std::move(connection.ours);
  output_ = std::move(output.ours);
  life_ = std::move(life.ours);
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);
}

// In a sandbox, what is started first is a program that starts the worker beside itself. Or it becomes the worker.
void WorkerProcess::start(const Launch& launch, SpawnSetup& setup) {
  sandbox::Sandbox::Entry entry = entry_of(launch);
  Pair told = pipe_pair(true);
  FileDescriptor their_told = lifted(told.theirs);
  told.theirs.reset();
  FileDescriptor their_ruleset, their_filter, their_refusals, their_writable;
  in_sandbox_ = launch.sandbox != nullptr;
  withheld_ = std::move(entry.withheld);
  if (entry.is_told) setup.give(their_told, told_fd);
  if (entry.ruleset >= 0) setup.give(their_ruleset = lifted(entry.ruleset), ruleset_fd);
  if (entry.filter >= 0) setup.give(their_filter = lifted(entry.filter), filter_fd);
  if (entry.writable >= 0) setup.give(their_writable = lifted(entry.writable), writable_fd);
  if (entry.tells_refusals) {
    refused_ = std::make_unique<sandbox::RefusedCalls>();
    setup.give(their_refusals = lifted(refused_->file()), refusals_fd);
  }
  adopt_orphans();
  if (!entry.in_namespace) entry.environment.push_back(mark_ = new_mark());
  const Starting until_it_is_noted;
  if (const int error = posix_spawnp(&pid_, entry.arguments.at(0).c_str(), &setup.actions, &setup.attributes,
                                     pointers(entry.arguments).data(), pointers(entry.environment).data())) {
    pid_ = -1;
    fail_to_start(launch, error);
  }
  note_living(pid_);
  if (!entry.is_told) return;
  their_told.reset();  // what is told ends when nobody holds it
  const sandbox::Entered entered = sandbox::read_told(told.ours);
  init_ = entered.init;
  if (entered.worker > 0) {
    forget_living(pid_);
    wait_for(pid_, nullptr);
    note_living(pid_ = entered.worker);
  }
  if (!entered.failure) return;
  kill();
  fail_to_enter(launch, *entered.failure);
}

WorkerProcess::~WorkerProcess() { kill(); }

void WorkerProcess::send(std::string_view rest) {
  const Clock::time_point end = Clock::now() + longest_send;
  while (!rest.empty() && reads_) {
    const ssize_t sent = ::send(connection_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN || is_requested(stop_)) return;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    reads_ = left.count() > 0;
    pollfd watched[] = {{connection_.get(), POLLOUT, 0},
                        {process_.get(), POLLIN, 0},
                        {stop_ != nullptr ? stop_->descriptor() : -1, POLLIN, 0}};
    if (reads_) poll(watched, std::size(watched), static_cast<int>(left.count()));
    if (watched[1].revents != 0) return;
  }
}

bool WorkerProcess::receive() {
  char bytes[1 << 14];
  const ssize_t received = recv(connection_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (received > 0) lines_.append({bytes, static_cast<std::size_t>(received)});
  // ECONNRESET: it ended before it read all our words.
  if (received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR)) connected_ = false;
  return received > 0;
}

void WorkerProcess::drain_output() {
  char bytes[1 << 16];
  ssize_t count = 0;
  while ((count = read(output_.get(), bytes, sizeof bytes)) > 0) {
    printed_.append(bytes, static_cast<std::size_t>(count));
    if (printed_.size() > 2 * kept_output) printed_.erase(0, printed_.size() - kept_output);
  }
  if (count == 0) output_.reset();
}

std::string WorkerProcess::output() {
  if (output_) drain_output();
  return wire::printable(printed_, kept_output);
}

void WorkerProcess::forget_output() {
  if (output_) drain_output();
  printed_.clear();
  if (refused_) refused_->forget();
}

void WorkerProcess::end_if_stopped() {
  if (!is_requested(stop_)) return;
  kill();
  throw Interrupted();
}

WorkerProcess::Received WorkerProcess::hear(std::chrono::milliseconds deadline) {
  Clock::time_point end = Clock::now() + deadline;
  bool ending = false;
  bool has_spun = false;
  for (;;) {
    end_if_stopped();
    if (!reads_) return {Event::deadline, ""};
    if (auto line = lines_.take()) return {Event::line, std::move(*line)};
    if (lines_.overflown()) return {Event::line, "(more than 1 MiB without a newline)"};
    if (connected_ && !has_spun) {
      has_spun = true;
      spin_.until(deadline, [&] { return receive() || !connected_; });
      continue;
    }
    if (!connected_ && !ending) {
      ending = true;
      end = std::min(end, Clock::now() + end_after_disconnection);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return {Event::deadline, ""};
    pollfd watched[] = {{connected_ ? connection_.get() : -1, POLLIN, 0},
                        {output_.get(), POLLIN, 0},
                        {process_.get(), POLLIN, 0},
                        {stop_ != nullptr ? stop_->descriptor() : -1, POLLIN, 0}};
    const auto wait = std::min<std::int64_t>(left.count(), 1'000'000);
    if (poll(watched, std::size(watched), static_cast<int>(wait)) < 0 && errno != EINTR) {
      return {Event::deadline, ""};
    }
    if (watched[1].revents != 0) drain_output();
    if (watched[0].revents != 0) receive();
    if (watched[2].revents != 0) {
      // Its last words are still on their way to us.
      while (connected_ && receive()) {
      }
      if (auto line = lines_.take()) return {Event::line, std::move(*line)};
      kill();
      return {Event::died, ""};
    }
  }
}

WorkerProcess::Received WorkerProcess::hear(const TimeLimits& limits) {
  work_times_ = {};
  std::chrono::milliseconds next = std::min(longest_unwatched, limits.computing / 10);
  std::optional<WorkClock> clock;
  for (;;) {
    Received heard = hear(next);
    if (heard.event != Event::deadline || !reads_) return heard;
    if (!connected_) return hear(end_after_disconnection);
    if (!clock) {
      clock.emplace(std::vector<pid_t>{pid_, init_ > 0 ? init_ : pid_, computes_in_caller_ ? getppid() : pid_});
    }
    work_times_ = clock->look();
    if (work_times_.computed >= limits.computing) return heard;
    if (work_times_.own() >= limits.own) {
      return {work_times_.is_told || !is_machine_loaded() ? Event::deadline : Event::starved, ""};
    }
    if (work_times_.waited >= limits.waiting) return {Event::starved, ""};
    const WorkTimes::Time least_left =
        std::min<WorkTimes::Time>({limits.computing - work_times_.computed, limits.own - work_times_.own(),
                                   limits.waiting - work_times_.waited, longest_between_looks});
    next = std::max(shortest_between_looks, std::chrono::ceil<std::chrono::milliseconds>(least_left));
  }
}

bool WorkerProcess::ends_within(std::chrono::milliseconds time) {
  const Clock::time_point end = Clock::now() + time;
  for (;;) {
    end_if_stopped();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd watched[] = {{output_.get(), POLLIN, 0},
                        {process_.get(), POLLIN, 0},
                        {stop_ != nullptr ? stop_->descriptor() : -1, POLLIN, 0}};
    if (poll(watched, std::size(watched), static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
    if (watched[0].revents != 0) drain_output();
    if (watched[1].revents == 0) continue;
    kill();
    return true;
  }
}

void WorkerProcess::kill() {
  if (pid_ <= 0) return;
  // Before it is waited for: until then no other process can have its number.
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  if (init_ > 0) ::kill(init_, SIGKILL);  // and with it everything in its namespace
  forget_living(pid_);
  wait_for(pid_, &wait_status_);
  if (init_ > 0) {
    end_namespace(init_);
  } else {
    end_orphans(mark_, pid_);
  }
  pid_ = init_ = -1;
}

}  // namespace rope::worker
