// Landlock, by system calls: newer than some C libraries and headers.
#pragma once

#include <string>

#include "tools/worker/protocol/file_descriptor.hpp"
#include "tools/worker/sandbox/file_rules.hpp"

namespace rope::sandbox {

// Of Landlock's interface; 0: the system has none.
int landlock_version();

// From this version on, it also keeps signals within the sandbox.
inline constexpr int landlock_with_signals = 6;

// For landlock_restrict_self. Throws std::system_error.
worker::FileDescriptor landlock_ruleset(const FileRules& rules);

}  // namespace rope::sandbox
