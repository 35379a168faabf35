// Kernels of shared libraries (rope_kernel.h), run in their own process. This process never loads them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/worker/client/worker_options.hpp"
#include "tools/worker/client/worker_subject.hpp"

namespace rope {

// An empty kernel name takes the library's only kernel; if there are several, the error lists them. The subject's
// name is "LIBRARY#KERNEL" with the path as given. Throws SubjectError: no such file, no shared library, not loadable,
// no such kernel, another ABI, or it crashes while it is loaded.
std::unique_ptr<WorkerSubject> open_library(const std::filesystem::path& library, std::string_view kernel_name,
                                            const WorkerOptions& options = {});

// The names of its kernels, in the library's order. Throws SubjectError as above.
std::vector<std::string> kernels_in(const std::filesystem::path& library, const WorkerOptions& options = {});

}  // namespace rope
