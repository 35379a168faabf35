#include "tools/judge/run/task.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace rope {
namespace {

// How many processes of the kernel may share the requirements, and what a lane must cost to be worth its process.
constexpr std::size_t most_lanes = 4, most_slow_lanes = 2;
constexpr double least_cost_of_lane = 50, least_cost_of_slow_lane = 200;

// Roughly: a unit for the case, and one for each 2^14 elements.
double cost_of(const Case& c) {
  const double rows = double{1} * c.batch * c.seq * (c.heads + c.key_heads);
  return 1 + rows * c.spec.head_dim / (1 << 14);
}

double cost_of(std::span<const Case> cases) {
  double sum = 0;
  for (const Case& c : cases) sum += cost_of(c);
  return sum;
}

}  // namespace

Lanes share_out(std::span<const Task> tasks, Processes processes, bool has_budget) {
  std::vector<std::size_t> shared;
  std::vector<double> costs;
  for (const Task& task : tasks) {
    if (processes != Processes::one && task.requirement.handling.by_chance && !has_budget) continue;
    shared.push_back(task.index);
    costs.push_back(cost_of(task.cases));
  }
  const bool few = processes == Processes::few;
  Lanes lanes = share_out(costs, processes == Processes::one ? 1 : few ? most_slow_lanes : most_lanes,
                          few ? least_cost_of_slow_lane : least_cost_of_lane);
  for (std::vector<std::size_t>& lane : lanes) {
    for (std::size_t& task : lane) task = shared[task];
  }
  return lanes;
}

std::vector<Turn> turns_in_order(std::span<const Task> tasks) {
  std::vector<Turn> turns;
  for (const Task& task : tasks) turns.push_back({task.index, 0, task.cases.size(), false});
  return turns;
}

std::vector<Turn> turns_of_budget(std::span<Task> tasks, const Budget& budget) {
  std::vector<Waiting> waiting;
  std::vector<Turn> together;
  const std::span<const Telling> first = budget.first;
  for (Task& task : tasks) {
    std::vector<Case> cases;
    for (const std::size_t i : spread_order(task.cases.size())) cases.push_back(std::move(task.cases[i]));
    task.cases = std::move(cases);
    const bool is_one = task.requirement.prepare != nullptr;
    if (is_one) together.push_back({task.index, 0, task.cases.size(), false});
    const auto telling = std::ranges::find(first, task.requirement.id, &Telling::id);
    const auto rank = static_cast<std::size_t>(telling - first.begin());
    waiting.push_back({{}, rank, telling == first.end() ? 1 : telling->share});
    if (is_one) continue;
    for (const Case& c : task.cases) waiting.back().costs.push_back(cost_of(c));
  }
  std::vector<Turn> turns = fair_turns(waiting);
  turns.insert(turns.end(), together.begin(), together.end());
  return turns;
}

Lanes turns_of(const Lanes& lanes, std::span<const Turn> turns) {
  std::map<std::size_t, std::size_t> lane_of;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    for (const std::size_t task : lanes[lane]) lane_of[task] = lane;
  }
  Lanes result(lanes.size());
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (const auto lane = lane_of.find(turns[i].task); lane != lane_of.end()) result[lane->second].push_back(i);
  }
  return result;
}

}  // namespace rope
