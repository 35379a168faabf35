// Tasks: the requirements of a run with their cases, and how these are shared out among processes and over the time.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <vector>

#include "tools/judge/run/budget.hpp"
#include "tools/judge/run/claims_asked.hpp"
#include "tools/judge/run/grade_use.hpp"
#include "tools/judge/run/lanes.hpp"
#include "tools/judge/run/requirement.hpp"
#include "tools/judge/run/subject_report.hpp"

namespace rope {

// A requirement and its cases, and later what they gave.
struct Task {
  Requirement requirement;
  std::size_t index = 0;
  std::vector<Case> cases;
  std::size_t asked = 0;     // of these; all if it is decided
  std::size_t executed = 0;  // of these
  ClaimsSeen claims_seen;    // in those that were executed
  TriedCalls tried_calls;
  SupportSeen support;       // of those that decide
  std::int64_t deaths = 0;
  bool begun = false;
  RequirementResult result;
  GradeUse uses;
  std::set<DType> failed;  // dtypes
  std::int64_t calls = 0;
  std::int64_t recovered_hangs = 0;
};

// Those that the selection wants, each with its cases. As many threads as `jobs` ask for the cases; what the first
// requirement of them throws is thrown here.
std::vector<Task> tasks_of(std::span<const Requirement> requirements, const Selection& selection, std::size_t jobs,
                           const std::function<std::vector<Case>(const Requirement&)>& cases);

// All but the first, of a task that is done: at level full, the cases of all tasks take 30 MB.
void give_back_cases(Task& task);

// How many processes there may be.
enum class Processes { one, few, several };

// The tasks that each process asks, as indices. What shows only by chance is left out, except with a budget: it runs
// last, by itself, because a race needs CPUs that are free.
Lanes share_out(std::span<const Task> tasks, Processes processes, bool has_budget);

std::vector<Turn> turns_in_order(std::span<const Task> tasks);

// Puts the cases of each task into the order in which they are asked. Cases that are better run together are one turn.
std::vector<Turn> turns_of_budget(std::span<Task> tasks, const Budget& budget);

// Indices of the turns of each lane's tasks, in rising order.
Lanes turns_of(const Lanes& lanes, std::span<const Turn> turns);

}  // namespace rope
