#include "tools/worker/client/work_clock.hpp"

#include <sched.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace rope::worker {
namespace {

namespace fs = std::filesystem;
using Time = std::chrono::nanoseconds;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Of all its threads and of the children that it waited for, as proc_pid_stat(5) has them behind the name.
std::optional<Time> cpu_time_in(const std::string& stat) {
  constexpr int fields_before = 11;  // from the state on
  const std::size_t end_of_name = stat.rfind(')');
  if (end_of_name == stat.npos) return std::nullopt;
  std::istringstream fields(stat.substr(end_of_name + 1));
  std::string skipped;
  for (int i = 0; i < fields_before; ++i) fields >> skipped;
  std::int64_t ticks = 0;
  for (int i = 0; i < 4; ++i) {  // in user code, in the system, and both of the children
    std::int64_t part = 0;
    fields >> part;
    ticks += part;
  }
  if (!fields) return std::nullopt;
  return Time(ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK)));
}

class Walk {
 public:
  explicit Walk(fs::path proc) : proc_(std::move(proc)) {}

  // False if the system tells nothing about it; then it may have ended.
  bool add(pid_t process) {
    if (process == getpid() || !seen_.insert(process).second) return true;
    const fs::path folder = proc_ / std::to_string(process);
    const std::optional<Time> cpu = cpu_time_in(text_of(folder / "stat"));
    if (!cpu) return false;
    times_.all += *cpu;
    bool has_threads = false;
    std::error_code ended;
    for (auto task = fs::directory_iterator(folder / "task", ended); !ended && task != fs::directory_iterator();
         task.increment(ended)) {
      has_threads = add_thread(task->path()) || has_threads;
    }
    return has_threads;
  }

  ThreadTimes take() { return std::move(times_); }

 private:
  bool add_thread(const fs::path& folder) {
    std::istringstream children(text_of(folder / "children"));
    for (pid_t child = 0; children >> child;) add(child);
    std::istringstream fields(text_of(folder / "schedstat"));
    std::int64_t ran = 0, waited = 0;
    if (!(fields >> ran >> waited)) return false;
    const std::string stat = text_of(folder / "stat");
    const bool wants_cpu = stat.find(") R ", stat.rfind(')')) != stat.npos;
    times_.threads[static_cast<pid_t>(std::stol(folder.filename().string()))] = {Time(ran), Time(waited), wants_cpu};
    return true;
  }

  fs::path proc_;
  std::set<pid_t> seen_;
  ThreadTimes times_;
};

// Needs no /proc. Without children.
Time cpu_time_of(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + Time(time.tv_nsec);
}

std::int64_t cpus_of(pid_t process) {
  cpu_set_t allowed;
  if (sched_getaffinity(process, sizeof allowed, &allowed) == 0) return std::max(CPU_COUNT(&allowed), 1);
  return std::max<std::int64_t>(sysconf(_SC_NPROCESSORS_ONLN), 1);
}

// What each thread did since. A thread that is new did all of it.
std::vector<ThreadTimes::Thread> grown(const ThreadTimes& from, const ThreadTimes& to) {
  std::vector<ThreadTimes::Thread> result;
  for (const auto& [id, thread] : to.threads) {
    const auto before = from.threads.find(id);
    const ThreadTimes::Thread then = before == from.threads.end() ? ThreadTimes::Thread{} : before->second;
    result.push_back({thread.ran - then.ran, thread.waited - then.waited, thread.wants_cpu});
  }
  return result;
}

// Of the thread that computed most.
Time most_ran(const ThreadTimes& from, const ThreadTimes& to) {
  Time most{};
  for (const auto& thread : grown(from, to)) most = std::max(most, thread.ran);
  return most;
}

// Of the thread that waited most. A wait that goes on is not told yet: what wants a CPU and did not run in between
// counts as waiting. A wait that is told later, too, counts at most as long as the time since the last look.
Time most_waited(const ThreadTimes& from, const ThreadTimes& to, Time between) {
  Time most{};
  for (const auto& thread : grown(from, to)) {
    const Time not_running = between - thread.ran;
    most = std::max(most, thread.wants_cpu ? not_running : std::min(thread.waited, not_running));
  }
  return most;
}

}  // namespace

std::optional<ThreadTimes> thread_times(const std::vector<pid_t>& processes, const fs::path& proc) {
  Walk walk(proc);
  if (processes.empty() || !walk.add(processes.front())) return std::nullopt;
  for (const pid_t process : processes) walk.add(process);
  return walk.take();
}

WorkClock::WorkClock(std::vector<pid_t> processes, fs::path proc)
    : processes_(std::move(processes)),
      proc_(std::move(proc)),
      cpus_(cpus_of(processes_.at(0))),
      start_(std::chrono::steady_clock::now()),
      last_look_(start_),
      first_(thread_times(processes_, proc_)),
      last_(first_),
      cpu_time_at_start_(cpu_time_of(processes_.at(0))) {}

WorkTimes WorkClock::look() {
  WorkTimes times;
  const auto look = std::chrono::steady_clock::now();
  times.wall = look - start_;
  std::optional<ThreadTimes> now = first_ ? thread_times(processes_, proc_) : std::nullopt;
  if (!now) {
    times.is_told = false;
    times.computed = (cpu_time_of(processes_.front()) - cpu_time_at_start_) / cpus_;
    times.waited = waited_;
    return times;
  }
  waited_ += most_waited(*last_, *now, look - last_look_);
  last_look_ = look;
  times.waited = std::min(waited_, times.wall);
  times.computed = std::max(most_ran(*first_, *now), (now->all - first_->all) / cpus_);
  last_ = std::move(now);
  return times;
}

bool is_machine_loaded() {
  struct sysinfo info {};
  constexpr double one = 1 << SI_LOAD_SHIFT;
  return sysinfo(&info) == 0 && static_cast<double>(info.loads[0]) / one > static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace rope::worker
