// NVIDIA's compute-sanitizer, which watches the kernels that a program launches on a device: here a worker's.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "tools/judge/call/call.hpp"
#include "tools/judge/call/sanitizer_tool.hpp"
#include "tools/worker/client/worker_options.hpp"
#include "tools/worker/client/worker_process.hpp"

namespace rope::worker {

// In PATH, else in CUDA's folder (CUDA_HOME, CUDA_PATH, /usr/local/cuda). Empty if it is in none of these.
std::filesystem::path find_compute_sanitizer();

// Runs the calls in one worker under `tool`. Their tensors lie in memory of exactly their size on the device
// (device_call.hpp). Undecided without compute-sanitizer, or if it says nothing about the kernel.
SanitizerReport run_sanitized(const Launch& launch, const std::string& name, const WorkerOptions& options,
                              SanitizerTool tool, std::span<Call> calls);

// Reads the text that compute-sanitizer wrote. Undecided without a summary, which it writes at its end.
SanitizerReport read_sanitizer_log(SanitizerTool tool, std::string_view log);

}  // namespace rope::worker
