// What a worker still says when the kernel makes it die: one JSON line with signal, address, kind of access and place
// in the code. Then the process dies of the signal that it would have died of.
#pragma once

#include <cstdint>

namespace rope::worker {

// For the thread that calls it: without, an overflow of its stack kills the process before a word is said. Throws
// std::system_error. install_fault_handler does it for its own thread.
void give_fault_stack();

// Catches SEGV, BUS, FPE, ILL, ABRT, TRAP and SYS on a stack of its own. Only the first fault is told. Once a process.
// Throws std::system_error.
void install_fault_handler(int connection);

// Which libraries are loaded where, for later reports: asking in a signal handler may wait for a lock for ever.
void note_loaded_modules();

// The call that a fault will be reported for; -1 outside calls.
void set_current_call(std::int64_t id);

}  // namespace rope::worker
