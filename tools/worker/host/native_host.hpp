// The worker process for shared libraries: loads one, answers calls until it is told to end. PROTOCOL.md has the words.
#pragma once

namespace rope {

// The whole main() of a worker; its arguments come in the environment (ROPECHECK_WORKER, ROPECHECK_LIBRARY,
// ROPECHECK_KERNEL). Returns the exit status: 0, or 1 where the parent was told why there is no kernel, or 2 where this
// process was not started by ropecheck.
int worker_main();

}  // namespace rope
