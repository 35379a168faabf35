// A subject that was called once. What cannot be called at all is an error of the command line, not a verdict.
#pragma once

#include <memory>
#include <string>

#include "tools/judge/call/oracles.hpp"
#include "tools/judge/case/case_list.hpp"
#include "tools/judge/run/subject.hpp"
#include "tools/worker/client/worker_options.hpp"

namespace rope {

// open_subject(), and one plain call. Throws SubjectError if no call can run, too.
std::unique_ptr<Subject> open_callable(const std::string& name, const WorkerOptions& options, Oracles& oracles,
                                       const Selection& selection);

}  // namespace rope
