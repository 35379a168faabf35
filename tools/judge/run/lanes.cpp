#include "tools/judge/run/lanes.hpp"

#include <mpfr.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>

namespace rope {
namespace {

// Hands out lanes to threads.
class Queues {
 public:
  explicit Queues(const Lanes& lanes) : lanes_(lanes), next_(lanes.size()), busy_(lanes.size()) {}

  // The free lane with the lowest task, which is busy from now on. nullopt: none is free. The threads of the busy lanes
  // will do what these still hold.
  std::optional<std::size_t> take() {
    const std::scoped_lock lock(mutex_);
    std::optional<std::size_t> found;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (busy_[lane] || next_[lane] == lanes_[lane].size()) continue;
      if (!found || next_task(lane) < next_task(*found)) found = lane;
    }
    if (found) busy_[*found] = true;
    return found;
  }

  // Of a busy lane.
  std::size_t next_task(std::size_t lane) const { return lanes_[lane][next_[lane]]; }

  void give_back(std::size_t lane) {
    const std::scoped_lock lock(mutex_);
    ++next_[lane];
    busy_[lane] = false;
  }

 private:
  const Lanes& lanes_;
  std::mutex mutex_;
  std::vector<std::size_t> next_;  // in each lane
  std::vector<bool> busy_;
};

}  // namespace

Lanes share_out(std::span<const double> costs, std::size_t most, double least_cost) {
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  const auto worth_it = static_cast<std::size_t>(std::max(1.0, all / least_cost));
  Lanes lanes(std::min({most, worth_it, costs.size()}));
  std::vector<std::size_t> by_cost(costs.size());
  std::iota(by_cost.begin(), by_cost.end(), std::size_t{0});
  std::ranges::stable_sort(by_cost, [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  std::vector<double> sums(lanes.size());
  for (const std::size_t task : by_cost) {
    const auto lane = static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
    sums[lane] += costs[task];
    lanes[lane].push_back(task);
  }
  for (std::vector<std::size_t>& lane : lanes) std::ranges::sort(lane);
  std::ranges::sort(lanes);
  return lanes;
}

void run_lanes(const Lanes& lanes, std::size_t threads,
               const std::function<void(std::size_t task, std::size_t lane, std::size_t thread)>& run) {
  Queues queues(lanes);
  const auto work = [&](std::size_t thread) {
    while (const std::optional<std::size_t> lane = queues.take()) {
      run(queues.next_task(*lane), *lane, thread);
      queues.give_back(*lane);
    }
  };
  std::vector<std::jthread> others;
  try {
    for (std::size_t thread = 1; thread < std::min(threads, lanes.size()); ++thread) {
      others.emplace_back([&work, thread] {
        work(thread);
        mpfr_free_cache();  // MPFR keeps constants for each thread
      });
    }
  } catch (const std::system_error&) {
    // The system allows no more threads; these will do.
  }
  work(0);
}

}  // namespace rope
