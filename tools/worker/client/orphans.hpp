// What a worker started and left behind. A process that called setsid has left the worker's group. When its parent is
// gone, it comes to this process (PR_SET_CHILD_SUBREAPER), which recognises it by a mark in its environment.
#pragma once

#include <sys/types.h>

#include <string>

namespace rope::worker {

// From now on orphans come to this process instead of init. If the system cannot list a process's children, this does
// nothing: nobody could end them here.
void adopt_orphans();

// "NAME=value", different each time; goes into a worker's environment.
std::string new_mark();

// Kills and waits for every child of this process that it did not have when adopt_orphans() was first called. Call it
// when no worker is left, in a program whose children are all workers: it finds also what end_orphans() does not.
void end_strangers();

// Kills and waits for every adopted process that has the mark or is in the group, and for what these leave behind.
// Call it after the worker itself has been waited for. A process that removes the mark from its environment and leaves
// the group is not found. It must not be guessed at, because a program may have other children than workers.
void end_orphans(const std::string& mark, pid_t group);

// Ends the PID namespace with this first process, a child of this process, and waits for it. The namespace does not end
// before every process in it was waited for. So this waits for all of them that are children of this process, too.
void end_namespace(pid_t init);

}  // namespace rope::worker
