// Interruption by the user: a call that waits is given up, and what was found so far is reported.
#pragma once

#include "tools/judge/call/stop.hpp"

namespace rope {

// From now on SIGINT and SIGTERM request this stop; a second signal ends the process at once.
const Stop& stop_on_signal();

}  // namespace rope
