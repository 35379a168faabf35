// What a worker still reports when the kernel makes it die: one JSON line with signal, address, kind of access and
// place in the code. Then the process dies of its original signal.
#pragma once

#include <cstdint>

namespace rope::worker {

// For the calling thread: without it, an overflow of the stack kills the process before it can report. Throws
// std::system_error. install_fault_handler does this for its own thread.
void give_fault_stack();

// Catches SEGV, BUS, FPE, ILL, ABRT, TRAP and SYS on its own stack. Reports only the first fault. Once a process.
// Throws std::system_error.
void install_fault_handler(int connection);

// Notes which libraries are loaded where, for later reports: a signal handler that asks may wait for a lock for ever.
void note_loaded_modules();

// Sets the call that a fault is reported for; -1 outside calls.
void set_current_call(std::int64_t id);

}  // namespace rope::worker
