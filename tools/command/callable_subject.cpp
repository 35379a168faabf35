#include "tools/command/callable_subject.hpp"

#include <fmt/format.h>

#include "tools/command/subjects.hpp"
#include "tools/judge/run/first_call.hpp"
#include "tools/worker/client/subject_error.hpp"

namespace rope {

std::unique_ptr<Subject> open_callable(const std::string& name, const WorkerOptions& options, Oracles& oracles,
                                       const Selection& selection) {
  std::unique_ptr<Subject> subject = open_subject(name, options);
  if (subject->claims().compiled) return subject;  // what compiled code lacks shows when it is loaded
  const std::string why = why_no_call_runs(*subject, oracles, selection);
  if (!why.empty()) throw SubjectError(fmt::format("{}: {}", subject->name(), why));
  return subject;
}

}  // namespace rope
