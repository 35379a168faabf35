// The subject of certify's commands: how it is named, and how it is opened.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/certify/results.hpp"
#include "tools/command/deadline_options.hpp"
#include "tools/command/python_options.hpp"
#include "tools/command/sandbox_options.hpp"
#include "tools/judge/run/subject.hpp"

namespace rope {

struct SubjectOptions {
  std::string subject;
  DeadlineOptions deadlines;
  PythonOptions python;
  SandboxOptions sandbox;

  CLI::Option* add_subject(CLI::App& command);
  void add_to(CLI::App& command);
  std::vector<std::string> words() const;  // the same for another process, without the subject
};

struct OpenSubject {
  std::string name;
  std::unique_ptr<Subject> subject;
};

// One kernel: a certificate has one subject. It cannot see `folder`. Throws InputError, SubjectError.
OpenSubject open_one(const SubjectOptions& options, const std::string& folder, const Stop& stop);

// The kernel that the plan in the folder was made for. Throws InputError if its claims are not the plan's.
OpenSubject open_for_plan(const SubjectOptions& options, const certify::Folder& folder, const certify::Plan& plan,
                          const Stop& stop);

}  // namespace rope
