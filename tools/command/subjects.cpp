#include "tools/command/subjects.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "impls/builtin.hpp"
#include "reference/input_error.hpp"
#include "tests/conformance/kernel_subject.hpp"
#include "tools/worker/library_subject.hpp"

namespace rope {
namespace {

// "path#kernel"; a path that has '#' in it itself is taken whole if it exists.
std::pair<std::string, std::string> split(const std::string& name) {
  const std::size_t mark = name.rfind('#');
  if (mark == std::string::npos || std::filesystem::exists(name)) return {name, ""};
  return {name.substr(0, mark), name.substr(mark + 1)};
}

bool looks_like_library(const std::string& name) {
  return name.find('/') != std::string::npos || name.find(".so") != std::string::npos ||
         std::filesystem::exists(split(name).first);
}

}  // namespace

std::unique_ptr<Subject> open_subject(const std::string& name) {
  std::vector<std::string_view> known;
  for (const rope_kernel* kernel : builtin_kernels()) {
    if (name == kernel->name) return std::make_unique<KernelSubject>(*kernel);
    known.push_back(kernel->name);
  }
  if (!looks_like_library(name)) {
    throw InputError(
        fmt::format("subject \"{}\" is neither a built-in ({}) nor the path of a shared library "
                    "(lib.so or lib.so#kernel)",
                    name, fmt::join(known, ", ")));
  }
  const auto [path, kernel] = split(name);
  return open_library(path, kernel);
}

std::vector<std::string> expand_subjects(const std::vector<std::string>& names) {
  std::vector<std::string> expanded;
  if (names.empty()) {
    for (const rope_kernel* kernel : builtin_kernels()) expanded.emplace_back(kernel->name);
  }
  for (const std::string& name : names) {
    const auto [path, kernel] = split(name);
    const bool whole_library = kernel.empty() && looks_like_library(name);
    if (!whole_library) {
      expanded.push_back(name);
      continue;
    }
    for (const std::string& one : kernels_in(path)) expanded.push_back(fmt::format("{}#{}", path, one));
  }
  return expanded;
}

}  // namespace rope
