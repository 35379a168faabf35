// What a failure has to do with the sandbox.
#pragma once

#include <string>
#include <string_view>

#include "tools/worker/client/worker_process.hpp"

namespace rope::worker {

// "; the sandbox refused socket() just before; ..", if it was seen to refuse a system call, else what may have been refused
// if `said` tells of a missing permission. Empty if neither holds, or there is no sandbox.
std::string refusal_hint(const WorkerProcess& process, std::string_view said);

// "; the sandbox withheld MY_SOURCES; ..": variables, at most ten. Empty if there are none.
std::string withheld_hint(const WorkerProcess& process);

}  // namespace rope::worker
