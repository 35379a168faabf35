// A shared library of kernels (rope_kernel.h), loaded into this process and checked. Only a worker does that.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "impls/include/rope_kernel.h"

namespace rope::worker {

class NativeLibrary {
 public:
  // Every exception of this class is a std::runtime_error that names the library and says what to do.
  explicit NativeLibrary(std::string path);

  const std::vector<std::string>& names() const { return names_; }

  // An empty name takes the only kernel. Checks ABI, struct_size and apply. Fields that its author's header did not
  // have are 0.
  rope_kernel kernel(std::string_view name) const;

  // Why this thread's last call failed, in the library's words; empty if it has none.
  std::string last_error() const;

 private:
  // Checks what the command needs a name for.
  std::string name_of(const rope_kernel& kernel, std::uint32_t index) const;

  std::string path_;
  std::vector<const rope_kernel*> kernels_;
  std::vector<std::string> names_;
  decltype(&rope_last_error) last_error_ = nullptr;  // null: not exported
};

}  // namespace rope::worker
