// How much a process did, whatever else the machine does.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "tests/unit/command/command_checks.hpp"
#include "tools/worker/client/work_clock.hpp"

namespace rope::worker {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class Child {
 public:
  template <class Act>
  explicit Child(Act&& act) : pid_(fork()) {
    if (pid_ != 0) return;
    act();
    _exit(0);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// Nothing of this may outlive its parent.
void ends_with_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

void spin() {
  ends_with_parent();
  for (volatile int never = 0; never == 0;) {
  }
}

void sleep_on() {
  ends_with_parent();
  for (;;) pause();
}

TEST_CASE("work clock: what computes and what sleeps add up to the wall clock without the waiting") {
  const Child computes(spin);
  const Child sleeps(sleep_on);
  WorkClock of_computing({computes.pid()}), of_sleeping({sleeps.pid()});
  std::this_thread::sleep_for(400ms);
  const WorkTimes computing = of_computing.look(), sleeping = of_sleeping.look();
  CHECK(computing.is_told);
  CHECK(computing.computed > 0ms);
  CHECK(computing.computed + computing.waited > computing.wall * 8 / 10);
  CHECK(computing.own() >= computing.computed * 9 / 10);
  CHECK(sleeping.is_told);
  CHECK(sleeping.computed < 50ms);
  CHECK(sleeping.own() > 300ms);
}

TEST_CASE("work clock: children count, and threads count as if each had a CPU of its own") {
  const Child with_child([] {
    if (fork() == 0) spin();
    sleep_on();
  });
  WorkClock clock({with_child.pid()});
  std::this_thread::sleep_for(400ms);
  CHECK(clock.look().computed > 50ms);

  const Child with_threads([] {
    for (int i = 0; i < 3; ++i) std::thread(spin).detach();
    sleep_on();
  });
  WorkClock of_threads({with_threads.pid()});
  std::this_thread::sleep_for(400ms);
  const WorkTimes times = of_threads.look();
  CHECK(times.computed > 50ms);
  CHECK(times.computed <= times.wall + 20ms);
}

TEST_CASE("work clock: where the system tells nothing, a process's own clock is left") {
  const TemporaryFolder nothing;
  const Child computes(spin);
  WorkClock clock({computes.pid()}, nothing.path());
  std::this_thread::sleep_for(400ms);
  const WorkTimes times = clock.look();
  CHECK_FALSE(times.is_told);
  CHECK(times.waited == 0ms);
  CHECK(times.computed > 0ms);
  CHECK(times.computed <= times.wall);
}

TEST_CASE("work clock: what threads waited is added up, also of those that ended since") {
  const TemporaryFolder proc;
  const Child worker(sleep_on);
  const fs::path task = proc / std::to_string(worker.pid()) / "task";
  const auto tell = [&](const char* thread, const char* schedstat, const std::string& state = "S") {
    fs::create_directories(task / thread);
    rope::write(task / thread / "stat", "7 (a) b) " + state + " 1 7");
    rope::write(task / thread / "schedstat", schedstat);
    rope::write(task / thread / "children", "");
  };
  rope::write(proc / std::to_string(worker.pid()) / "stat", "");
  CHECK_FALSE(thread_times({worker.pid()}, proc.path()));
  fs::create_directories(task);
  rope::write(proc / std::to_string(worker.pid()) / "stat", "7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 100 50 20 30 20 0 1");
  CHECK_FALSE(thread_times({worker.pid()}, proc.path()));  // no thread
  tell("7", "1000000 2000000 5\n");
  const auto times = thread_times({worker.pid()}, proc.path());
  REQUIRE(times);
  CHECK(times->all == std::chrono::nanoseconds(200 * (1'000'000'000 / sysconf(_SC_CLK_TCK))));
  CHECK(times->threads.at(7).ran == 1ms);
  CHECK(times->threads.at(7).waited == 2ms);
  WorkClock clock({worker.pid()}, proc.path());
  std::this_thread::sleep_for(30ms);
  tell("8", "0 9000000 1\n");
  CHECK(clock.look().waited == 9ms);
  fs::remove_all(task / "8");
  std::this_thread::sleep_for(30ms);
  tell("9", "1 4000000 1\n");
  CHECK(clock.look().waited == 13ms);
  // A wait that goes on shows only by the state. What is told of it afterwards is not counted twice.
  tell("9", "1 4000000 1\n", "R");
  std::this_thread::sleep_for(30ms);
  const WorkTimes waits = clock.look();
  CHECK(waits.waited >= 43ms);
  CHECK(waits.waited < waits.wall);
  tell("9", "1 64000000 2\n");
  const WorkTimes after = clock.look();
  CHECK(after.waited - waits.waited <= after.wall - waits.wall);
}

}  // namespace
}  // namespace rope::worker
