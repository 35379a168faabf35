// A subject in a worker process, whatever its program. library_subject.hpp opens shared libraries.
#pragma once

#include <memory>
#include <string>

#include "tools/judge/run/subject.hpp"
#include "tools/worker/client/worker_options.hpp"
#include "tools/worker/client/worker_process.hpp"

namespace rope {

class WorkerSubject : public Subject {
 public:
  using Subject::apply;  // with the options' placement
  // One call, with its tensors placed like this. Only for one thread at a time.
  virtual Reply apply(Call& call, Placement placement) = 0;
  // Lets the process end, as after judging. False if it had to be killed.
  virtual bool end() = 0;
};

// Starts the worker and reads its claims. An empty name, or one that ends in '#', is completed with the name in the
// worker's hello. The next call restarts a worker that died. Throws SubjectError if it cannot be started.
std::unique_ptr<WorkerSubject> open_worker(const worker::Launch& launch, std::string name,
                                           const WorkerOptions& options);

}  // namespace rope
