// The kernels of device_kernels.cpp, on a fake driver.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/unit/places.hpp"
#include "tests/unit/worker/small_call.hpp"
#include "tools/worker/client/library_subject.hpp"

namespace rope {

inline const std::filesystem::path device_kernels = build_folder() / "device_kernels.so";
inline const std::filesystem::path fake_driver = build_folder() / "libfake_cuda_driver.so";

class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

inline std::unique_ptr<WorkerSubject> on_device(const char* kernel, const WorkerOptions& options = {}) {
  const Environment driver("ROPECHECK_CUDA_DRIVER", fake_driver.string());
  return open_library(device_kernels, kernel, options);
}

}  // namespace rope
