#include "tools/command/interrupt.hpp"

#include <unistd.h>

#include <csignal>

namespace rope {
namespace {

std::atomic<bool> stop_requested{false};  // the one thing a signal handler may touch

void request_stop(int signal) {
  if (stop_requested.exchange(true)) _exit(128 + signal);
}

}  // namespace

const std::atomic<bool>& stop_on_signal() {
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  return stop_requested;
}

}  // namespace rope
