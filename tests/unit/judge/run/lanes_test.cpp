#include "tools/judge/run/lanes.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

namespace rope {
namespace {

TEST_CASE("lanes share the cost, and each task is in one of them", "[lanes]") {
  const std::vector<double> costs{1, 30, 1, 10, 20, 10, 9, 1};
  const Lanes lanes = share_out(costs, 3, 5);
  REQUIRE(lanes.size() == 3);
  std::set<std::size_t> tasks;
  for (const std::vector<std::size_t>& lane : lanes) {
    CHECK(std::ranges::is_sorted(lane));
    double sum = 0;
    for (const std::size_t task : lane) sum += costs[task];
    CHECK(sum >= 23);
    CHECK(sum <= 30);
    tasks.insert(lane.begin(), lane.end());
  }
  CHECK(tasks.size() == costs.size());
  CHECK(lanes[0][0] == 0);
}

TEST_CASE("there are no more lanes than are worth it, or than tasks", "[lanes]") {
  const std::vector<double> costs{10, 10, 10, 10};
  CHECK(share_out(costs, 4, 1).size() == 4);
  CHECK(share_out(costs, 9, 1).size() == 4);
  CHECK(share_out(costs, 4, 20).size() == 2);
  CHECK(share_out(costs, 4, 1000) == Lanes{{0, 1, 2, 3}});
  CHECK(share_out(costs, 1, 1) == Lanes{{0, 1, 2, 3}});
  CHECK(share_out({}, 4, 1).empty());
}

TEST_CASE("one thread runs the tasks in their order", "[lanes]") {
  std::vector<std::size_t> ran;
  run_lanes({{0, 3, 4}, {1, 6}, {2, 5}}, 1, [&](std::size_t task, std::size_t lane, std::size_t thread) {
    CHECK(lane == std::vector<std::size_t>{0, 1, 2, 0, 0, 2, 1}[task]);
    CHECK(thread == 0);
    ran.push_back(task);
  });
  CHECK(ran == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("with any number of threads a lane runs its tasks in order, one at a time", "[lanes]") {
  Lanes lanes(5);
  for (std::size_t task = 0; task < 200; ++task) lanes[task * task % lanes.size()].push_back(task);
  std::erase_if(lanes, [](const std::vector<std::size_t>& lane) { return lane.empty(); });
  for (const std::size_t threads : {std::size_t{2}, std::size_t{3}, std::size_t{16}}) {
    std::vector<std::atomic<int>> inside(lanes.size());
    std::atomic<int> together{0};
    std::vector<std::vector<std::size_t>> ran(lanes.size());
    const std::size_t wanted = std::min(threads, lanes.size());
    std::set<std::size_t> used;
    std::mutex mutex;
    std::condition_variable all_are_here;
    bool gave_up = false;
    run_lanes(lanes, threads, [&](std::size_t task, std::size_t lane, std::size_t thread) {
      together += ++inside[lane] > 1 ? 1 : 0;
      ran[lane].push_back(task);
      {
        std::unique_lock lock(mutex);
        used.insert(thread);
        // On a busy machine the first thread would otherwise be through before another one starts.
        all_are_here.notify_all();
        const auto are_here = [&] { return used.size() == wanted || gave_up; };
        gave_up = !all_are_here.wait_for(lock, std::chrono::seconds(60), are_here) || gave_up;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      --inside[lane];
    });
    CHECK(together == 0);
    CHECK(ran == lanes);
    CHECK(used.size() == wanted);
  }
}

}  // namespace
}  // namespace rope
