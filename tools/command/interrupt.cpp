#include "tools/command/interrupt.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>

#include "tools/command/commands.hpp"
#include "tools/command/option_values.hpp"
#include "tools/worker/client/living_workers.hpp"

namespace rope {
namespace {

Stop* stop_of_signals = nullptr;  // set before a signal can come
std::atomic<int> signals_of_user{0};

void request_stop(int signal) {
  stop_of_signals->request();
  if (++signals_of_user == 1) return;
  worker::kill_living();
  _exit(128 + signal);
}

// The system sends SIGXCPU again every second.
void end_of_time(int signal) {
  stop_of_signals->request(signal == SIGXCPU ? StopReason::cpu_limit : StopReason::time_limit);
}

using Clock = std::chrono::steady_clock;

const Clock::time_point start_of_process = Clock::now();  // before main()

std::string too_early;  // set before a signal can come

void end_before_start(int) {
  (void)!write(STDERR_FILENO, too_early.data(), too_early.size());
  _exit(exit_incomplete);
}

void set_alarm(std::chrono::microseconds time) {
  using std::chrono::seconds;
  itimerval timer{};
  timer.it_value.tv_sec = std::chrono::duration_cast<seconds>(time).count();
  timer.it_value.tv_usec = (time % seconds(1)).count();
  setitimer(ITIMER_REAL, &timer, nullptr);
}

std::string limit_words(double seconds) { return fmt::format("the time limit of {:g} s was reached", seconds); }

}  // namespace

const Stop& stop_on_signal() {
  static Stop stop;
  stop_of_signals = &stop;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup ignores it.
    if (std::signal(signal, request_stop) == SIG_IGN && signal == SIGHUP) std::signal(signal, SIG_IGN);
  }
  std::signal(SIGXCPU, end_of_time);
  std::signal(SIGPIPE, SIG_IGN);
  return stop;
}

void TimeLimit::add_to(CLI::App& command) {
  takes_seconds(command.add_option("--time-limit", seconds_,
                                   "seconds that the whole run may take; then what was judged is reported as "
                                   "incomplete"),
                "a time limit")
      ->type_name("SECONDS")
      ->capture_default_str();
  command.parse_complete_callback([this] { limit(); });
}

void TimeLimit::limit() const {
  too_early = fmt::format("ropecheck: {} before anything was judged; give more with --time-limit\n",
                          limit_words(seconds_));
  std::signal(SIGALRM, end_before_start);
  const auto left = std::chrono::duration<double>(seconds_) - (Clock::now() - start_of_process);
  // 0 would set no alarm.
  set_alarm(std::max(std::chrono::duration_cast<std::chrono::microseconds>(left), std::chrono::microseconds(1)));
}

const Stop& TimeLimit::start() const {
  const Stop& stop = stop_on_signal();
  std::signal(SIGALRM, end_of_time);
  return stop;
}

std::string TimeLimit::words(const Stop& stop) const {
  switch (stop.reason()) {
    case StopReason::time_limit: return limit_words(seconds_);
    case StopReason::cpu_limit: return "the limit on CPU time was reached (`ulimit -t`)";
    case StopReason::asked:
    case StopReason::none: break;
  }
  return "interrupted";
}

std::string TimeLimit::ended_by(const Stop& stop) const {
  return stop.requested() && stop.reason() != StopReason::asked ? words(stop) : "";
}

}  // namespace rope
