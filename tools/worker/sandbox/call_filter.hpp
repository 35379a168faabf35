// Which system calls a subject may make: a program for seccomp. A refused call fails with EPERM, so that libraries go
// on without it.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rope::sandbox {

// Whether the system filters calls, and we know this machine's numbers.
bool can_filter_calls();

// What nothing else keeps within the sandbox.
struct Unkept {
  bool signals = false;     // to other processes, and their limits and priorities
  bool attributes = false;  // of files: modes, owners, times, extended attributes
};

// Refused: new sockets (a pair of streams that is connected to itself is allowed), tracing and reading other processes,
// mounting, namespaces, processes beside the worker, loading into the system, keys and io_uring. So are memory and
// queues that outlive the run, and what is unkept.
std::vector<sock_filter> call_filter(Unkept unkept);

// "socket", of a call that the filter may refuse.
std::string name_of_call(std::int32_t number);

}  // namespace rope::sandbox
