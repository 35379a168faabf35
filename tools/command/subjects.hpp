// From a person's words to a subject: a built-in's name, library.so, library.so#kernel, "python:module:function",
// or "cmd:PROGRAM ARGUMENTS", a worker program (tools/worker/protocol/PROTOCOL.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/judge/run/subject.hpp"
#include "tools/worker/client/worker_options.hpp"

namespace rope {

// Throws InputError for a name of another form, SubjectError for a library or a program that cannot be used.
std::unique_ptr<Subject> open_subject(const std::string& name, const WorkerOptions& options = {});

// A library without "#kernel" stands for all its kernels; no names at all stand for every built-in.
std::vector<std::string> expand_subjects(const std::vector<std::string>& names, const WorkerOptions& options);

}  // namespace rope
