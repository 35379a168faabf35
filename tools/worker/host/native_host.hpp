// The worker process for shared libraries: loads one and answers calls until it is told to end. See PROTOCOL.md.
#pragma once

namespace rope {

// The whole main() of a worker. Its arguments come in the environment (ROPECHECK_WORKER, ROPECHECK_LIBRARY,
// ROPECHECK_KERNEL). Returns the exit status: 0; 1 if the parent was told why there is no kernel; 2 if ropecheck did
// not start this process.
int worker_main();

}  // namespace rope
