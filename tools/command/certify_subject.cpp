#include "tools/command/certify_subject.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/command/callable_subject.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/subjects.hpp"

namespace rope {

CLI::Option* SubjectOptions::add_subject(CLI::App& command) {
  return command
      .add_option("subject", subject, "one kernel: built-in, lib.so#kernel, python:.. or \"cmd:..\", as for verify")
      ->type_name(kinds::subject);
}

void SubjectOptions::add_to(CLI::App& command) {
  deadlines.add_to(command);
  python.add_to(command);
  sandbox.add_to(command);
}

std::vector<std::string> SubjectOptions::words() const {
  std::vector<std::string> words = deadlines.words();
  for (const std::string& word : sandbox.words()) words.push_back(word);
  return words;
}

OpenSubject open_one(const SubjectOptions& options, const std::string& folder, const Stop& stop) {
  WorkerOptions worker = options.deadlines.worker_options();
  std::vector<std::filesystem::path> hidden;
  if (!folder.empty()) hidden.push_back(folder);
  options.sandbox.apply_to(worker, hidden);
  worker.stop = &stop;
  const std::vector<std::string> named = options.python.named({options.subject});
  const ExpandedSubjects expanded = expand_subjects(named, worker);
  if (expanded.subjects.size() != 1) {
    throw InputError(fmt::format("{} has {} kernels; name one of them, as in {}", options.subject,
                                 expanded.subjects.size(), expanded.subjects.front().name));
  }
  Oracles oracles;
  const std::string& name = expanded.subjects.front().name;
  return {name, open_callable(name, worker, oracles, {})};
}

OpenSubject open_for_plan(const SubjectOptions& options, const certify::Folder& folder, const certify::Plan& plan,
                          const Stop& stop) {
  OpenSubject opened = open_one(options, folder.path().string(), stop);
  if (const std::string why = certify::claims_difference(plan, opened.subject->claims()); !why.empty()) {
    throw InputError(fmt::format("{}: {}", folder.plan().string(), why));
  }
  return opened;
}

}  // namespace rope
