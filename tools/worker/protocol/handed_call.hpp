// A call as ropecheck hands it to its own host: as bytes, since reading it from text took longer than many a kernel.
// Both sides are of one build and on one machine, so the bytes are the structs below, and the call is what the kernel
// gets, with the addresses in the worker's address space. Used by both sides.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "impls/include/rope_kernel.h"

namespace rope::worker {

// Before each message: the bytes that follow. 0: the worker shall end.
using FrameSize = std::uint32_t;

// Then come the judged call and its tensors, and, if there is one, the companion and its tensors.
struct HandedHead {
  std::int64_t id = 0;
  std::uint32_t tensors = 0;
  std::uint32_t has_companion = 0;
  std::uint32_t companion_tensors = 0;
  std::uint32_t reserved = 0;
};

// Then come its parts. A tensor that lies in the memory of another one is not told: the call has its address.
struct HandedTensor {
  std::array<char, 16> name{};  // as in the protocol
  std::uint32_t slot = 0, room = 0;
  std::uint32_t writable = 0;
  std::uint32_t parts = 0;
  // For a device. From the beginning of its pages, in bytes: to element [0, 0, ..], and to the first and behind the
  // last of all elements on these pages. Lists of a scaling rule stay with the host.
  std::uint64_t at = 0, first = 0, last = 0;
  std::uint32_t goes_to_device = 0;
  std::uint32_t reserved = 0;

  std::string_view named() const { return {name.data(), strnlen(name.data(), name.size())}; }
};

// Whole pages of a file, or zeros, at an offset from the tensor's address.
struct HandedPart {
  static constexpr std::uint64_t zeros = ~std::uint64_t{0};  // in place of an offset in the file: they take no memory

  std::uint64_t at = 0;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t length = 0;
  bool operator==(const HandedPart&) const = default;
};

template <class T>
void append_bytes(std::string& message, const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
  message.append(reinterpret_cast<const char*>(&value), sizeof value);
}
// It has doubles, whose equal values may have two representations; here they are only copied.
inline void append_bytes(std::string& message, const rope_call& call) {
  message.append(reinterpret_cast<const char*>(&call), sizeof call);
}

}  // namespace rope::worker
