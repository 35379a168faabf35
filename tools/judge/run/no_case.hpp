// Why requirements have no case for some claims and a selection.
#pragma once

#include <functional>
#include <span>

#include "tools/judge/run/suite.hpp"
#include "tools/judge/run/task.hpp"

namespace rope {

// Says it in the results of tasks without a case, and of those whose cases could not be decided. It proposes the cases
// again, with more chosen or claimed. So what it names has been tried: with it, there is a case.
void say_why_no_case(std::span<Task> tasks, const Claims& claims, const SuiteOptions& options,
                     const std::function<bool(const Task&)>& is_dropped);

}  // namespace rope
