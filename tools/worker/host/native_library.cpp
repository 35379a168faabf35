#include "tools/worker/host/native_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

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

void check(const rope_kernel& kernel, const std::string& where) {
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
  // As many names as one line of the protocol holds.
  if (kernels > wire::most_kernels) {
    fail("{} says that it holds {} kernels: rope_kernel_count() may return at most {}", path_, kernels, wire::most_kernels);
  }
  if (kernels == 0) fail("{} holds no kernels: rope_kernel_count() returned 0", path_);
  for (std::uint32_t i = 0; i < kernels; ++i) entries_.push_back(entry_of(get(i), i, kernels));
  refuse_twins();
  last_error_ = reinterpret_cast<decltype(last_error_)>(dlsym(library, "rope_last_error"));
}

NativeLibrary::Entry NativeLibrary::entry_of(const rope_kernel* kernel, std::uint32_t index, std::uint32_t count) {
  Entry entry{kernel, "", ""};
  if (kernel == nullptr) {
    entry.problem =
        fmt::format("rope_kernel_get({}) returned NULL although rope_kernel_count() returned {}", index, count);
    return entry;
  }
  if (kernel->name == nullptr) {
    entry.problem = fmt::format("kernel {} has no name (it is NULL); set rope_kernel.name", index);
    return entry;
  }
  try {
    entry.name = wire::shown_name({kernel->name, strnlen(kernel->name, wire::longest_name + 1)});
  } catch (const std::invalid_argument& error) {
    entry.problem = fmt::format("the name of kernel {} cannot be used: {}", index, error.what());
    return entry;
  }
  if (entry.name.find('#') != entry.name.npos) {
    entry.problem = fmt::format("the name of kernel {}, {}, holds '#', which stands between library and kernel", index,
                                entry.name);
  }
  return entry;
}

void NativeLibrary::refuse_twins() {
  std::map<std::string, std::vector<std::size_t>> of_name;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].problem.empty()) of_name[entries_[i].name].push_back(i);
  }
  for (const auto& [name, indexes] : of_name) {
    if (indexes.size() == 1) continue;
    for (const std::size_t i : indexes) {
      entries_[i].problem = fmt::format("kernels {} have the same name, {}; choose one by its index, as in {}#{}",
                                        wire::listed(indexes, " and "), name, path_, i);
    }
  }
}

std::vector<std::string> NativeLibrary::names() const {
  std::vector<std::string> usable;
  for (const Entry& entry : entries_) {
    if (entry.problem.empty()) usable.push_back(entry.name);
  }
  return usable;
}

std::vector<NativeLibrary::Refused> NativeLibrary::refused() const {
  std::vector<Refused> refused;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].problem.empty()) refused.push_back({i, entries_[i].problem});
  }
  return refused;
}

std::string NativeLibrary::last_error() const {
  const char* text = last_error_ == nullptr ? nullptr : last_error_();
  return text == nullptr ? "" : text;
}

const NativeLibrary::Entry& NativeLibrary::chosen(std::string_view asked) const {
  const std::vector<std::string> known = names();
  if (asked.empty() && entries_.size() > 1) {
    fail("{} holds {} kernels; choose one of them, as in {}#{}: {}", path_, entries_.size(), path_,
         known.empty() ? "0" : known.front(), wire::listed(known));
  }
  for (const Entry& entry : entries_) {
    if (!asked.empty() && entry.name != asked) continue;
    if (!entry.problem.empty()) fail("{}: {}", path_, entry.problem);
    return entry;
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), index);
  if (error == std::errc() && end == asked.data() + asked.size() && index < entries_.size()) {
    if (entries_[index].kernel == nullptr) fail("{}: {}", path_, entries_[index].problem);
    return entries_[index];
  }
  fail("{} holds no kernel {}; {}it holds {}", path_, asked, did_you_mean(asked, {known.begin(), known.end()}),
       wire::listed(known));
}

rope_kernel NativeLibrary::kernel(std::string_view asked) const {
  const Entry& entry = chosen(asked);
  const std::string name = asked.empty() ? entry.name : std::string(asked);
  check(*entry.kernel, fmt::format("kernel {} of {}", name, path_));
  rope_kernel known{};
  std::memcpy(&known, entry.kernel, std::min<std::size_t>(entry.kernel->struct_size, sizeof known));
  return known;
}

}  // namespace rope::worker
