// A subject in a worker process, whatever program that is. library_subject.hpp opens shared libraries.
#pragma once

#include <memory>
#include <string>

#include "tools/judge/run/subject.hpp"
#include "tools/worker/client/worker_options.hpp"
#include "tools/worker/client/worker_process.hpp"

namespace rope {

class WorkerSubject : public Subject {
 public:
  using Subject::apply;  // with the placement of the options
  // One call with the tensors against the other end of their pages. Not for several threads at once.
  virtual Reply apply(Call& call, Placement placement) = 0;
  // Lets the process end, as it does when all is judged. False where it had to be killed.
  virtual bool end() = 0;
};

// Starts the worker and hears its claims. A name that is empty or ends in '#' is completed by that of the worker's
// hello. A worker that dies is started again by the next call. Throws SubjectError where it cannot be started.
std::unique_ptr<WorkerSubject> open_worker(const worker::Launch& launch, std::string name,
                                           const WorkerOptions& options);

}  // namespace rope
