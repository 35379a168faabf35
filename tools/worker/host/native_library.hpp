// A shared library of kernels (rope_kernel.h), loaded into this process and checked. Only a worker does that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "impls/include/rope_kernel.h"

namespace rope::worker {

class NativeLibrary {
 public:
  // Every exception of this class is a std::runtime_error that names the library and says what to do.
  explicit NativeLibrary(std::string path);

  // Of kernels that can be asked for by name.
  std::vector<std::string> names() const;

  // Kernels that cannot: the others of the library are judged without them.
  struct Refused {
    std::size_t index;
    std::string why;
  };
  std::vector<Refused> refused() const;

  // By its name, or else by its index, which needs no usable name. Empty: the only kernel. Checks ABI, struct_size and
  // apply. Fields that its author's header did not have are 0.
  rope_kernel kernel(std::string_view asked) const;

  // Why this thread's last call failed, in the library's words; empty if it has none.
  std::string last_error() const;

 private:
  struct Entry {
    const rope_kernel* kernel = nullptr;
    std::string name;
    std::string problem;  // why nobody can ask for it by name; empty: nothing
  };

  static Entry entry_of(const rope_kernel* kernel, std::uint32_t index, std::uint32_t count);
  void refuse_twins();
  const Entry& chosen(std::string_view asked) const;

  std::string path_;
  std::vector<Entry> entries_;
  decltype(&rope_last_error) last_error_ = nullptr;  // null: not exported
};

}  // namespace rope::worker
