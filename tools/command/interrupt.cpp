#include "tools/command/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "tools/worker/client/living_workers.hpp"

namespace rope {
namespace {

Stop* stop_of_signals = nullptr;  // set before a signal can come

void request_stop(int signal) {
  if (stop_of_signals->request()) return;
  worker::kill_living();
  _exit(128 + signal);
}

}  // namespace

const Stop& stop_on_signal() {
  static Stop stop;
  stop_of_signals = &stop;
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  return stop;
}

}  // namespace rope
