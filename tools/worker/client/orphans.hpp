// What a worker started and left behind. A process that called setsid is in no group of the worker's any more; once its
// parent is gone it is handed to this process (PR_SET_CHILD_SUBREAPER), which tells it by a mark in its environment.
#pragma once

#include <sys/types.h>

#include <string>

namespace rope::worker {

// From now on orphans come to this process instead of init. Where the system cannot list a process's children this does
// nothing: nobody could end them here.
void adopt_orphans();

// "NAME=value", another one each time; to be put into a worker's environment.
std::string new_mark();

// Kills and waits for every adopted process that has the mark or is in the group, and what these leave behind in turn.
// Call it when the worker itself has been waited for. What takes the mark out of its environment and leaves the group
// is not found; it must not be guessed at, because a program may have children of its own beside workers.
void end_orphans(const std::string& mark, pid_t group);

}  // namespace rope::worker
