#include "tools/worker/client/living_workers.hpp"

#include <time.h>

#include <array>
#include <atomic>

namespace rope::worker {
namespace {

constexpr int most_waits = 100;
constexpr timespec a_wait{0, 10'000'000};  // ns

std::array<std::atomic<pid_t>, 64> groups{};
std::atomic<int> starting{0};

void replace(pid_t from, pid_t to) noexcept {
  for (std::atomic<pid_t>& group : groups) {
    pid_t expected = from;
    if (group.compare_exchange_strong(expected, to)) return;
  }
}

}  // namespace

Starting::Starting() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
  ++starting;
}

Starting::~Starting() {
  --starting;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void note_living(pid_t pid) noexcept { replace(0, pid); }

void forget_living(pid_t pid) noexcept { replace(pid, 0); }

void kill_living() noexcept {
  for (int i = 0; i < most_waits && starting > 0; ++i) nanosleep(&a_wait, nullptr);
  for (const std::atomic<pid_t>& group : groups) {
    if (const pid_t pid = group; pid > 0) kill(-pid, SIGKILL);
  }
}

}  // namespace rope::worker
