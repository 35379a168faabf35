// From a person's words to a subject: a built-in's name, library.so, library.so#kernel, "python:module:function",
// or "cmd:PROGRAM ARGUMENTS", a worker program (tools/worker/protocol/PROTOCOL.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/judge/run/subject.hpp"
#include "tools/report/words.hpp"
#include "tools/worker/client/worker_options.hpp"

namespace rope {

// Throws InputError for a name of another form, SubjectError for a library or a program that cannot be used.
std::unique_ptr<Subject> open_subject(const std::string& name, const WorkerOptions& options = {});

struct ExpandedSubject {
  std::string name;
  bool is_only = false;  // nothing else was named
};

using Open = std::function<std::unique_ptr<Subject>(const std::string& name)>;

struct ExpandedSubjects {
  std::vector<ExpandedSubject> subjects;
  std::vector<RefusedSubject> refused;
};

// A library without "#kernel" stands for all its kernels; no names at all stand for every built-in. Kernels that cannot
// be asked for by name are refused, and so are libraries that cannot be used. Throws SubjectError if nothing else was
// named.
ExpandedSubjects expand_subjects(const std::vector<std::string>& names, const WorkerOptions& options);

// The subject, opened by `open`. Null if it cannot be used: then it is told, and added to `refused`. Throws SubjectError
// where expand_subjects does.
std::unique_ptr<Subject> open_or_refuse(const ExpandedSubject& subject, const Open& open,
                                        std::vector<RefusedSubject>& refused);

// A line for each, on stderr: what is on stdout may be a report.
void tell_refused(const std::vector<RefusedSubject>& refused);

// exit_no_subject in the place of exit_conforms if any is refused.
int with_refused(int exit_code, const std::vector<RefusedSubject>& refused);

}  // namespace rope
