// The first line of a worker: the wanted message, or why there is none.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "tools/worker/client/worker_process.hpp"

namespace rope::worker {

// Between a process's report of a fault and its end.
inline constexpr std::chrono::milliseconds last_breath{2000};

// The message whose "op" is `wanted`. Throws SubjectError if the worker refuses, dies, hangs, speaks another version
// or says anything else, and BusyMachine if it got no time.
nlohmann::json first_words(WorkerProcess& process, std::string_view wanted, const TimeLimits& limits);

// "the machine is too busy: it waited 180 s for a CPU, ..": why nothing can be said. `option` gives it longer.
std::string starved(const WorkTimes& times, const TimeLimits& limits, std::string_view option);

// `sentence`, followed by what the process printed last, if anything.
std::string with_output(std::string sentence, WorkerProcess& process);

}  // namespace rope::worker
