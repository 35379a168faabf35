// The files whose code a process runs.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rope::worker {

// Paths of what is mapped as code, sorted, without ropecheck's own files. Empty if the system does not tell.
std::vector<std::string> code_files_of(pid_t process);

}  // namespace rope::worker
