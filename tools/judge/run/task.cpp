#include "tools/judge/run/task.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <utility>

namespace rope {
namespace {

// How many processes of the kernel may share the requirements, and what a lane must cost to be worth its process.
constexpr std::size_t most_lanes = 4, most_slow_lanes = 2;
constexpr double least_cost_of_lane = 50, least_cost_of_slow_lane = 200;

double elements_of(const Case& c) { return double{1} * c.batch * c.seq * (c.heads + c.key_heads) * c.spec.head_dim; }

// Numbers in the tables of cos and sin.
double table_of(const Case& c) {
  if (c.source != AngleSource::tables) return 0;
  const std::int64_t absent = c.layout == Layout::late_rows ? smallest_position(c) : 0;
  return static_cast<double>(largest_position(c) + 1 - absent) * c.spec.rotary_dim * (c.full_tables ? 2 : 1);
}

// A check compares the results of as many calls, at most.
constexpr int most_results_at_once = 4;

// How many elements cost as much as a call, roughly.
constexpr double elements_of_a_call = 1 << 12, elements_of_a_slow_call = 1 << 14;

// Only slow calls need a budget.
double cost_of(const Case& c) { return 1 + elements_of(c) / elements_of_a_slow_call; }

struct Load {
  double cost = 0;    // in calls, roughly
  double memory = 0;  // of its largest case, with tables, in bytes
};

Load load_of(const Task& task, double elements_of_one) {
  double elements = 0, largest_table = 0;  // cases share their tables
  const int calls = task.requirement.handling.calls, results = std::min(calls, most_results_at_once);
  Load load;
  for (const Case& c : task.cases) {
    const double own = elements_of(c), table = table_of(c);
    elements += own;
    largest_table = std::max(largest_table, table);
    load.memory = std::max(load.memory, results * own * static_cast<double>(size_of(c.dtype) + size_of(c.out_dtype)) +
                                            table * static_cast<double>(size_of(c.given)));
  }
  load.cost = (static_cast<double>(task.cases.size()) + elements / elements_of_one) * calls;
  load.cost += largest_table / elements_of_one;
  return load;
}

// Requirements with such cases share a lane: two of them at once would take twice as much.
constexpr double much_memory = 16 << 20;

}  // namespace

std::vector<Task> tasks_of(std::span<const Requirement> requirements, const Selection& selection, std::size_t jobs,
                           const std::function<std::vector<Case>(const Requirement&)>& cases) {
  std::vector<Task> tasks;
  Lanes each;
  for (const Requirement& requirement : requirements) {
    if (!selection.wants(requirement.id)) continue;
    each.push_back({tasks.size()});
    Task& task = tasks.emplace_back();
    task.requirement = requirement;
    task.index = tasks.size() - 1;
    task.result.id = requirement.id;
    task.result.sentence = requirement.sentence;
    task.result.is_must = requirement.is_must();
  }
  std::vector<std::exception_ptr> errors(tasks.size());
  run_lanes(each, jobs, [&](std::size_t i, std::size_t, std::size_t) {
    try {
      tasks[i].cases = cases(tasks[i].requirement);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return tasks;
}

void give_back_cases(Task& task) {
  if (task.cases.empty()) return;
  [[maybe_unused]] const bool are_many = task.cases.size() > 1000;
  task.cases = {task.cases.begin(), task.cases.begin() + 1};
#ifdef __GLIBC__
  if (are_many) malloc_trim(0);
#endif
}

Lanes share_out(std::span<const Task> tasks, Processes processes, bool has_budget) {
  const bool few = processes == Processes::few;
  std::vector<std::vector<std::size_t>> shared;  // tasks that stay together
  std::vector<double> costs;
  std::optional<std::size_t> large;
  for (const Task& task : tasks) {
    if (processes != Processes::one && task.requirement.handling.by_chance && !has_budget) continue;
    const Load load = load_of(task, few ? elements_of_a_slow_call : elements_of_a_call);
    if (load.memory > much_memory && large) {
      shared[*large].push_back(task.index);
      costs[*large] += load.cost;
      continue;
    }
    if (load.memory > much_memory) large = shared.size();
    shared.push_back({task.index});
    costs.push_back(load.cost);
  }
  Lanes lanes = share_out(costs, processes == Processes::one ? 1 : few ? most_slow_lanes : most_lanes,
                          few ? least_cost_of_slow_lane : least_cost_of_lane);
  for (std::vector<std::size_t>& lane : lanes) {
    std::vector<std::size_t> all;
    for (const std::size_t together : lane) all.insert(all.end(), shared[together].begin(), shared[together].end());
    std::ranges::sort(all);
    lane = std::move(all);
  }
  return lanes;
}

std::vector<Turn> turns_in_order(std::span<const Task> tasks) {
  std::vector<Turn> turns;
  for (const Task& task : tasks) turns.push_back({task.index, 0, task.cases.size(), false});
  return turns;
}

std::vector<Turn> turns_of_budget(std::span<Task> tasks, const Budget& budget) {
  std::vector<QueuedTask> waiting;
  std::vector<Turn> together;
  const std::span<const RequirementPriority> first = budget.first;
  for (Task& task : tasks) {
    std::vector<Case> cases;
    for (const std::size_t i : spread_order(task.cases.size())) cases.push_back(std::move(task.cases[i]));
    task.cases = std::move(cases);
    const bool is_one = task.requirement.prepare != nullptr;
    if (is_one) together.push_back({task.index, 0, task.cases.size(), false});
    const auto telling = std::ranges::find(first, task.requirement.id, &RequirementPriority::id);
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
