// Interruption by the user: work stops at the next case, and what was found so far is reported.
#pragma once

#include <atomic>

namespace rope {

// From now on SIGINT and SIGTERM set the returned flag; a second signal ends the process at once.
const std::atomic<bool>& stop_on_signal();

}  // namespace rope
