#include "tools/worker/host/native_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "reference/did_you_mean.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope::worker {
namespace {

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw std::runtime_error(fmt::format(format, std::forward<Args>(args)...));
}

template <class Function>
Function* exported(void* library, const char* symbol, const std::string& path) {
  void* address = dlsym(library, symbol);
  if (address == nullptr) {
    fail(
        "{} does not export {}; a library of kernels exports rope_kernel_count and rope_kernel_get with C linkage and "
        "default visibility, see impls/include/rope_kernel.h",
        path, symbol);
  }
  return reinterpret_cast<Function*>(address);
}

// What rope_kernel was before fields were appended.
constexpr std::size_t smallest_kernel = offsetof(rope_kernel, claims) + offsetof(rope_capabilities, overwrites_inputs);

void check(const rope_kernel& kernel, const std::string& path) {
  const std::string where = fmt::format("kernel {} of {}", kernel.name, path);
  if (kernel.abi != ROPE_KERNEL_ABI) {
    fail("{} is built for ABI {}, this ropecheck speaks ABI {}; {}", where, kernel.abi, ROPE_KERNEL_ABI,
         kernel.abi > ROPE_KERNEL_ABI ? "use a newer ropecheck, or build the kernel with this one's rope_kernel.h"
                                      : "set rope_kernel.abi to ROPE_KERNEL_ABI and build it again");
  }
  if (kernel.struct_size < smallest_kernel) {
    fail("{} says struct_size {}, ABI {} needs at least {} bytes; set it to sizeof(rope_kernel)", where,
         kernel.struct_size, kernel.abi, smallest_kernel);
  }
  if (kernel.apply == nullptr) fail("{} has no apply (it is NULL); set rope_kernel.apply", where);
  if (kernel.claims.device != ROPE_CPU && kernel.claims.device != ROPE_CUDA) {
    fail("{} claims device {}; rope_device has {} and {}", where, kernel.claims.device, int{ROPE_CPU}, int{ROPE_CUDA});
  }
}

}  // namespace

NativeLibrary::NativeLibrary(std::string path) : path_(std::move(path)) {
  // RTLD_LOCAL: its symbols must not replace symbols of a library that is loaded later. RTLD_NOW: a missing symbol is
  // found here, not in the middle of a call.
  void* library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fail("{} cannot be loaded: {}; expected a shared library for this machine, linked with all that it needs", path_,
         dlerror());
  }
  const auto count = exported<decltype(rope_kernel_count)>(library, "rope_kernel_count", path_);
  const auto get = exported<decltype(rope_kernel_get)>(library, "rope_kernel_get", path_);
  const std::uint32_t kernels = count();
  constexpr std::uint32_t most_kernels = 4096;
  if (kernels > most_kernels) {
    fail("{} says that it holds {} kernels: rope_kernel_count() may return at most {}", path_, kernels, most_kernels);
  }
  if (kernels == 0) fail("{} holds no kernels: rope_kernel_count() returned 0", path_);
  for (std::uint32_t i = 0; i < kernels; ++i) {
    const rope_kernel* kernel = get(i);
    if (kernel == nullptr) {
      fail("{}: rope_kernel_get({}) returned NULL although rope_kernel_count() returned {}", path_, i, kernels);
    }
    if (kernel->name == nullptr) fail("{}: kernel {} has no name (it is NULL); set rope_kernel.name", path_, i);
    kernels_.push_back(kernel);
    names_.push_back(name_of(*kernel, i));
  }
  last_error_ = reinterpret_cast<decltype(last_error_)>(dlsym(library, "rope_last_error"));
}

std::string NativeLibrary::name_of(const rope_kernel& kernel, std::uint32_t index) const {
  constexpr std::size_t longest = 256;
  const std::string name(kernel.name, strnlen(kernel.name, longest + 1));
  if (name.empty()) fail("{}: the name of kernel {} is empty", path_, index);
  if (name.size() > longest) fail("{}: the name of kernel {} has more than {} bytes", path_, index, longest);
  if (name.find('#') != name.npos) {
    fail("{}: the name of kernel {}, {}, holds '#', which stands between library and kernel", path_, index,
         wire::printable(name, longest));
  }
  if (const auto same = std::ranges::find(names_, name); same != names_.end()) {
    fail("{}: kernels {} and {} have the same name, {}; a kernel is asked for by its name", path_,
         same - names_.begin(), index, wire::printable(name, longest));
  }
  return name;
}

std::string NativeLibrary::last_error() const {
  const char* text = last_error_ == nullptr ? nullptr : last_error_();
  return text == nullptr ? "" : text;
}

rope_kernel NativeLibrary::kernel(std::string_view name) const {
  if (name.empty() && kernels_.size() > 1) {
    fail("{} holds {} kernels; choose one of them, as in {}#{}: {}", path_, names_.size(), path_, names_.front(),
         wire::listed(names_));
  }
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (name.empty() || names_[i] == name) {
      check(*kernels_[i], path_);
      rope_kernel known{};
      std::memcpy(&known, kernels_[i], std::min<std::size_t>(kernels_[i]->struct_size, sizeof known));
      return known;
    }
  }
  fail("{} holds no kernel {}; {}it holds {}", path_, name, did_you_mean(name, {names_.begin(), names_.end()}),
       wire::listed(names_));
}

}  // namespace rope::worker
