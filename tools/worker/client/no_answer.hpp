// Replies for calls that were not answered.
#pragma once

#include <chrono>
#include <string>

#include "tools/judge/run/subject.hpp"
#include "tools/worker/client/worker_process.hpp"

namespace rope::worker {

std::string in_seconds(std::chrono::milliseconds time);  // "0.3 s"

// Kills the process, which said nothing within this time. `computed`: it did so all along.
Reply reply_of_hang(WorkerProcess& process, std::chrono::milliseconds limit, bool computed);
void say_twice(Reply& hang);  // a second process hung, too

// The process has ended.
Reply reply_of_end(const WorkerProcess& process);

}  // namespace rope::worker
