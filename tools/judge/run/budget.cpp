#include "tools/judge/run/budget.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace rope {
namespace {

constexpr double share_of_one_shrinking = 0.05;
constexpr double tiny = 1e-9;  // above what sums are rounded by

std::size_t with_reversed_bits(std::size_t value, int bits) {
  std::size_t reversed = 0;
  for (int i = 0; i < bits; ++i) reversed |= (value >> i & 1) << (bits - 1 - i);
  return reversed;
}

}  // namespace

std::vector<std::size_t> spread_order(std::size_t count) {
  std::vector<std::size_t> order;
  const auto bits = static_cast<int>(std::bit_width(count));
  for (std::size_t i = 0; i < std::size_t{1} << bits; ++i) {
    if (const std::size_t index = with_reversed_bits(i, bits); index < count) order.push_back(index);
  }
  return order;
}

std::vector<Turn> fair_turns(std::span<const QueuedTask> tasks) {
  std::vector<std::pair<double, Turn>> spent;
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    const auto& [costs, rank, share] = tasks[task];
    double sum = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      sum += costs[i] / (i == 0 ? 1 : share);
      // In steps, so that ranks decide and not small differences.
      spent.push_back({i == 0 ? std::floor(sum) : std::floor(sum * share + tiny) / share, {task, i, i + 1, false}});
    }
  }
  std::ranges::stable_sort(spent, {}, [&](const std::pair<double, Turn>& one) {
    return std::tuple(one.first, tasks[one.second.task].rank);
  });
  std::vector<Turn> turns;
  for (const auto& [cost, turn] : spent) turns.push_back(turn);
  return turns;
}

bool BudgetClock::is_over() const {
  if (!budget_) return false;
  if (has_ended_) return true;
  const double share = has_failed_ ? 1 - budget_->share_of_diagnosis : 1;
  return std::chrono::steady_clock::now() - start_ >= share * budget_->time;
}

std::optional<std::chrono::steady_clock::time_point> BudgetClock::end_of_shrinking() const {
  if (!budget_) return std::nullopt;
  const std::chrono::duration<double> most = share_of_one_shrinking * budget_->time;
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(most);
}

}  // namespace rope
