#include "tools/worker/protocol/spin.hpp"

#include <catch2/catch.hpp>

namespace rope::worker {
namespace {

using std::chrono::hours;

// Of `waits` waits for something that never comes: how many looked at all.
int looked(Spin& spin, int waits) {
  int count = 0;
  for (int i = 0; i < waits; ++i) {
    bool has_looked = false;
    CHECK_FALSE(spin.until(hours(1), [&] {
      has_looked = true;
      return false;
    }));
    count += has_looked;
  }
  return count;
}

TEST_CASE("spin: after many vain looks most waits skip them, until one succeeds") {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
    WARN("not run: one CPU, where nobody spins");
    return;
  }
  Spin spin;
  CHECK(looked(spin, 8) == 8);
  const int later = looked(spin, 160);
  CHECK(later >= 5);
  CHECK(later <= 20);
  bool is_there = false;
  for (int i = 0; i < 40 && !is_there; ++i) is_there = spin.until(hours(1), [] { return true; });
  CHECK(is_there);
  CHECK(looked(spin, 8) == 8);
}

TEST_CASE("spin: it does not look beyond the time limit") {
  Spin spin;
  CHECK_FALSE(spin.until({}, [] { return true; }));
}

}  // namespace
}  // namespace rope::worker
