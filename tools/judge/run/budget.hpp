// A run with a budget of time: what it asks first, and when its time is up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rope {

// A requirement that finds much. It gets `share` times as much time as one that is not named.
struct RequirementPriority {
  std::string_view id;
  double share = 1;
};

struct Budget {
  std::chrono::duration<double> time{};
  // Once a requirement has failed, judging leaves this share to the diagnosis.
  double share_of_diagnosis = 0;
  std::span<const RequirementPriority> first;  // best first; all others follow
};

// Consecutive cases of a task. One process asks them without a pause.
struct Turn {
  std::size_t task = 0;
  std::size_t begin = 0, end = 0;
  bool is_done = false;
};

// 0 .. count-1 in an order in which every beginning is spread over all of them: 0, the middle, the quarters, ..
std::vector<std::size_t> spread_order(std::size_t count);

// A task whose cases wait for their turns. Of two with the same share, the one with the lower rank comes first.
struct QueuedTask {
  std::vector<double> costs;  // of its cases
  std::size_t rank = 0;
  double share = 1;
};

// A turn for each case. First comes a case of every task, then each task has used its share of the cost at any time. So
// a case that costs as much as ten waits for nine others of each task.
std::vector<Turn> fair_turns(std::span<const QueuedTask> tasks);

// Without a budget it never ends.
class BudgetClock {
 public:
  explicit BudgetClock(const std::optional<Budget>& budget) : budget_(budget) {}

  void start() { start_ = std::chrono::steady_clock::now(); }
  void note_failure() { has_failed_ = true; }
  void end() { has_ended_ = true; }
  bool is_over() const;
  // A failure that is found now may be shrunk until then.
  std::optional<std::chrono::steady_clock::time_point> end_of_shrinking() const;

 private:
  const std::optional<Budget>& budget_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<bool> has_failed_{false}, has_ended_{false};
};

}  // namespace rope
