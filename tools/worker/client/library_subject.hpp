// Kernels of shared libraries (rope_kernel.h), run in their own process. This process never loads them.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tools/worker/client/worker_options.hpp"
#include "tools/worker/client/worker_subject.hpp"

namespace rope {

// A kernel may also be given by its index in the library. An empty kernel name takes the library's only kernel; if there are several, the error lists them. The subject's
// name is "LIBRARY#KERNEL" with the path as given. Throws SubjectError: no such file, no shared library, not loadable,
// no such kernel, another ABI, or it crashes while it is loaded.
std::unique_ptr<WorkerSubject> open_library(const std::filesystem::path& library, std::string_view kernel_name,
                                            const WorkerOptions& options = {});

struct RefusedKernel {
  std::size_t index = 0;  // in the library
  std::string why;
};

struct KernelList {
  std::vector<std::string> names;  // in the library's order
  std::vector<RefusedKernel> refused;  // without a name to ask for them by
};

// Of the first line of a library's host. What is loaded may have written that line: throws SubjectError if it names no
// kernel, more than wire::most_kernels, or has a member of another type or range.
KernelList kernel_list_in(const nlohmann::json& words);

// Throws SubjectError as above.
KernelList kernels_in(const std::filesystem::path& library, const WorkerOptions& options = {});

}  // namespace rope
