#include "tools/command/subjects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "impls/builtin.hpp"
#include "reference/did_you_mean.hpp"
#include "reference/input_error.hpp"
#include "tools/command/command_words.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/cuda_kernel.hpp"
#include "tools/command/print_text.hpp"
#include "tools/command/python_options.hpp"
#include "tools/judge/run/kernel_subject.hpp"
#include "tools/vectors/subject_name.hpp"
#include "tools/worker/client/library_subject.hpp"
#include "tools/worker/client/subject_error.hpp"

namespace rope {
namespace {

// A link to itself is an error to the system; here it is a file that does not exist.
bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// "path#kernel". A path that contains '#' itself is taken whole if it exists.
std::pair<std::string, std::string> split(const std::string& name) {
  const std::size_t mark = name.rfind('#');
  if (mark == std::string::npos || exists(name)) return {name, ""};
  return {name.substr(0, mark), name.substr(mark + 1)};
}

constexpr std::string_view command_prefix = "cmd:";

// A worker program of PROTOCOL.md, "cmd:PROGRAM ARGS..".
std::unique_ptr<Subject> open_command(const std::string& name, const WorkerOptions& options) {
  const std::vector<std::string> words = command_words(std::string_view(name).substr(command_prefix.size()));
  if (words.empty() || words.front().empty()) {
    throw InputError(fmt::format("subject \"{}\" names no program; expected cmd:PROGRAM ARGUMENTS", name));
  }
  WorkerOptions once = options;
  once.only_one = true;  // nothing is known of the program: it may hold a port, a licence or a notebook's kernel
  try {
    return open_worker({words, {}}, name, once);
  } catch (const SubjectError& error) {
    throw SubjectError(fmt::format("{}: {}", name, error.what()));
  }
}

// Python's own message does not help if its module of workers is missing.
std::string without_package(const std::string& said, const worker::Launch& launch) {
  const std::string& python = launch.arguments.front();
  if (said.find("No module named ropecheck") == said.npos && said.find("No module named 'ropecheck'") == said.npos) {
    return said;
  }
  return fmt::format(
      "{} has no package ropecheck; install it there ({} -m pip install PATH-OF-ROPECHECK), or choose another "
      "interpreter with --python FILE",
      python, python);
}

// HOME is hidden, and a module may lie there.
std::string with_hint(const std::string& said, const WorkerOptions& options) {
  if (!options.sandbox || said.find("No module named") == said.npos) return said;
  return said + "; a module in HOME is found with --allow FOLDER or --sandbox off";
}

std::unique_ptr<Subject> open_python(const std::string& name, const WorkerOptions& options) {
  const worker::Launch launch = python_launch(name);
  try {
    return open_worker(launch, name, options);
  } catch (const SubjectError& error) {
    throw SubjectError(fmt::format("{}: {}", name, without_package(with_hint(error.what(), options), launch)));
  }
}

std::unique_ptr<Subject> open_cuda_kernel(const WorkerOptions& options) {
  const std::filesystem::path library = cuda_kernel_library();
  if (!std::filesystem::exists(library)) {
    throw SubjectError(fmt::format(
        "{}: {} is missing: this build has none, because CMake found no nvcc of CUDA 12 or later, or ROPECHECK_CUDA "
        "is OFF. With nvcc installed, run cmake --fresh --preset release. cuda-on-cpu is the same kernel on the CPU",
        cuda_kernel_name, library.string()));
  }
  return open_library(library, cuda_kernel_name, options);
}

bool is_launched(const std::string& name) {
  return name.starts_with(command_prefix) || name.starts_with(python_prefix) || vectors::folder_of(name).has_value();
}

bool is_built_in(const std::string& name) {
  return name == cuda_kernel_name || std::ranges::any_of(builtin_kernels(), [&](const rope_kernel* kernel) {
           return name == kernel->name;
         });
}

bool looks_like_library(const std::string& name) {
  if (is_built_in(name)) return false;  // whatever lies in the current folder
  return name.find('/') != std::string::npos || name.find(".so") != std::string::npos ||
         exists(split(name).first);
}

}  // namespace

std::unique_ptr<Subject> open_subject(const std::string& name, const WorkerOptions& options) {
  std::vector<std::string_view> known;
  for (const rope_kernel* kernel : builtin_kernels()) {
    if (name == kernel->name) return std::make_unique<KernelSubject>(*kernel, options.stop);
    known.push_back(kernel->name);
  }
  if (name == cuda_kernel_name) return open_cuda_kernel(options);
  known.push_back(cuda_kernel_name);
  if (name.starts_with(command_prefix)) return open_command(name, options);
  if (name.starts_with(python_prefix)) return open_python(name, options);
  if (const std::optional<std::string> folder = vectors::folder_of(name)) {
    throw InputError(
        fmt::format("subject \"{}\" is files; they are judged by `ropecheck vectors verify {}`", name, *folder));
  }
  if (!looks_like_library(name)) {
    throw InputError(
        fmt::format("subject \"{}\" is neither a built-in ({}{}) nor the path of a shared library "
                    "(lib.so or lib.so#kernel) nor a kernel in Python (python:package.module:function) nor a worker "
                    "program (cmd:PROGRAM ARGUMENTS)",
                    name, fmt::join(known, ", "), did_you_mean(name, known, "; ", "")));
  }
  const auto [path, kernel] = split(name);
  return open_library(path, kernel, options);
}

ExpandedSubjects expand_subjects(const std::vector<std::string>& names, const WorkerOptions& options) {
  ExpandedSubjects expanded;
  if (names.empty()) {
    for (const rope_kernel* kernel : builtin_kernels()) expanded.subjects.push_back({kernel->name});
  }
  for (const std::string& name : names) {
    const bool is_alone = names.size() == 1;
    const auto [path, kernel] = split(name);
    const bool whole_library = kernel.empty() && !is_launched(name) && looks_like_library(name);
    if (!whole_library) {
      expanded.subjects.push_back({name, is_alone});
      continue;
    }
    try {
      const KernelList list = kernels_in(path, options);
      if (list.names.empty()) throw SubjectError(fmt::format("{}: {}", path, list.refused.front().why));
      for (const std::string& one : list.names) expanded.subjects.push_back({fmt::format("{}#{}", path, one)});
      for (const RefusedKernel& one : list.refused) {
        expanded.refused.push_back({fmt::format("{}#{}", path, one.index), one.why});
      }
    } catch (const SubjectError& error) {
      if (is_alone) throw;
      expanded.refused.push_back({name, error.what()});
    }
  }
  return expanded;
}

std::unique_ptr<Subject> open_or_refuse(const ExpandedSubject& subject, const Open& open,
                                        std::vector<RefusedSubject>& refused) {
  try {
    return open(subject.name);
  } catch (const SubjectError& error) {
    if (subject.is_only) throw;
    refused.push_back({subject.name, error.what()});
    tell_refused({refused.back()});
    return nullptr;
  }
}

void tell_refused(const std::vector<RefusedSubject>& refused) {
  for (const RefusedSubject& one : refused) {
    print_text(stderr, "ropecheck: {} is refused: {}\n", one.subject, one.why);
  }
}

int with_refused(int exit_code, const std::vector<RefusedSubject>& refused) {
  return exit_code == exit_conforms && !refused.empty() ? int{exit_no_subject} : exit_code;
}

}  // namespace rope
