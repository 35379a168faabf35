// What the system allows a worker's process.
#pragma once

#include <sys/types.h>

namespace rope::worker {

// A crash is reported in words; a core file for each would only fill the disk. And if memory runs out, the system
// should take the worker, not the suite.
void expect_crashes(pid_t pid);

// Limits its private memory. If the limit cannot be set, there is none.
void limit_memory(pid_t pid);

}  // namespace rope::worker
