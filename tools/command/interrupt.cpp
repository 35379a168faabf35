#include "tools/command/interrupt.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

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
}

const Stop& TimeLimit::start() const {
  const Stop& stop = stop_on_signal();
  std::signal(SIGALRM, end_of_time);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds_);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds_ - std::floor(seconds_)) * 1e6);
  setitimer(ITIMER_REAL, &timer, nullptr);
  return stop;
}

std::string TimeLimit::words(const Stop& stop) const {
  switch (stop.reason()) {
    case StopReason::time_limit: return fmt::format("the time limit of {:g} s was reached", seconds_);
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
