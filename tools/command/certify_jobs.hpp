// The shards of a plan as processes of this machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/judge/call/stop.hpp"

namespace rope {

// Runs each command line of this program at the same time as the others, and calls `meanwhile` a few times a second.
// Their stdout is dropped. If a stop is requested, they are told to stop, too. Returns their exit codes; 128 + N if
// signal N ended one.
std::vector<int> run_side_by_side(const std::vector<std::vector<std::string>>& commands, const Stop& stop,
                                  const std::function<void()>& meanwhile);

}  // namespace rope
