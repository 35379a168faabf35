// CUDA's grid on a CPU: the names that a kernel source needs to compile with g++ and clang, and run() to run it.
// Include it in place of CUDA's own names; README.md says what it executes and what it does not.
#pragma once

#ifdef __CUDACC__
#error "nvcc brings the real ones"
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

namespace rope::grid {

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

struct Launch {
  Dim3 grid{};
  Dim3 block{};
  std::size_t shared_bytes = 0;
  bool reversed = false;  // threads of a block run in descending order
};

// The running thread. One per host thread, because each may have a launch of its own.
struct Here {
  Dim3 thread_index{0, 0, 0};
  Dim3 block_index{0, 0, 0};
  Dim3 block_size;
  Dim3 grid_size;
  std::byte* shared = nullptr;
};
const Here& here() noexcept;

// Runs thread(argument) for every thread of every block, one after the other on this host thread. Each runs until it
// waits for others or ends; only threads that wait have a stack of their own. The thread function must not throw.
// Returns nothing, or the first fault: a launch that a device would refuse, a barrier or shuffle that only some threads
// reach, an unaligned address. The launch ends at a barrier that some threads never reach; after other faults it
// continues.
std::optional<std::string> run(const Launch& launch, void (*thread)(const void*), const void* argument);

template <class Kernel>
std::optional<std::string> run(const Launch& launch, const Kernel& kernel) {
  return run(
      launch, [](const void* argument) noexcept { (*static_cast<const Kernel*>(argument))(); }, &kernel);
}

// Waits for all threads of the block. `line` tells one barrier from another.
void wait_for_block(int line);

// Hands `value` to the lanes of this warp that are in the mask, and returns the value of the warp's lane `source`.
std::uint64_t exchange(std::uint32_t mask, std::uint64_t value, unsigned source);

// An access of `bytes` bytes must be aligned to `bytes`. A device stops the kernel; here the launch has a fault.
void check_alignment(const void* address, std::size_t bytes);

inline unsigned lane() {
  const Here& at = here();
  return (at.thread_index.x + at.block_size.x * (at.thread_index.y + at.block_size.y * at.thread_index.z)) % 32;
}

template <class T>
T shuffle(std::uint32_t mask, T value, unsigned source) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = exchange(mask, bits, source);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace rope::grid

// The names of CUDA C++ that kernels here use.
#define __device__
#define threadIdx (::rope::grid::here().thread_index)
#define blockIdx (::rope::grid::here().block_index)
#define blockDim (::rope::grid::here().block_size)
#define gridDim (::rope::grid::here().grid_size)

inline void __syncthreads(int line = __builtin_LINE()) { ::rope::grid::wait_for_block(line); }

// Each `width` lanes form a group, as in CUDA.
template <class T>
T __shfl_sync(std::uint32_t mask, T value, int source, int width = 32) {
  const unsigned group = ::rope::grid::lane() & ~static_cast<unsigned>(width - 1);
  return ::rope::grid::shuffle(mask, value, group + static_cast<unsigned>(source & (width - 1)));
}

template <class T>
T __shfl_xor_sync(std::uint32_t mask, T value, int lanes, int width = 32) {
  const unsigned lane = ::rope::grid::lane();
  const unsigned source = lane ^ static_cast<unsigned>(lanes);
  const bool inside = source / static_cast<unsigned>(width) <= lane / static_cast<unsigned>(width);
  return ::rope::grid::shuffle(mask, value, inside ? source : lane);
}

// Memory that the threads of a block share: Launch::shared_bytes of it. On a device it holds leftovers; here it is
// filled with bytes of ones, which are NaN in any type.
#define ROPE_SHARED_MEMORY(name) std::byte* const name = ::rope::grid::here().shared
