// Lanes: tasks in queues, each with a process of the kernel of its own. What runs before a task in its lane does not
// depend on the number of threads, and so neither does its result.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace rope {

using Lanes = std::vector<std::vector<std::size_t>>;  // indices of tasks, in rising order in each lane

// The costliest task first, each to the lane that has the least to do. No lane is empty, except if there are no tasks.
// There are fewer lanes than `most` if one would cost less than `least_cost`. The first lane has the first task.
Lanes share_out(std::span<const double> costs, std::size_t most, double least_cost);

// Runs every task: run(task, lane, thread). A lane runs one task at a time, in its order; of the lanes that are free,
// the one with the lowest task is next. So one thread runs the tasks in their order. `run` must not throw.
void run_lanes(const Lanes& lanes, std::size_t threads,
               const std::function<void(std::size_t task, std::size_t lane, std::size_t thread)>& run);

}  // namespace rope
