// The input of one launch of the rotation kernel: the unchanged call, and how its work is cut. It is one value, passed
// to a device as the kernel's parameter; the call's pointers then point to device memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "impls/host_device.hpp"
#include "impls/include/rope_kernel.h"

namespace rope::cuda {

// Division by a number that the host knows. Exact while the dividend times the divisor is below 2^32.
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(std::uint32_t by) : by_(by), reciprocal_(((std::uint64_t{1} << 32) + by - 1) / by) {}
  ROPE_HOST_DEVICE std::uint32_t quotient(std::uint32_t n) const {
    return static_cast<std::uint32_t>(n * reciprocal_ >> 32);
  }
  ROPE_HOST_DEVICE std::uint32_t value() const { return by_; }

 private:
  std::uint32_t by_ = 1;
  std::uint64_t reciprocal_ = std::uint64_t{1} << 32;
};

constexpr int few_pairs = 128;  // theta of this many travels in the job

// The features of a head are cut into chunks. A chunk is one load of 16 bytes from each half of the rotary features. If
// strides or addresses do not allow that, it is one pair. The chunks of pass-through features follow those chunks.
// A unit is what a block does between two barriers: some neighbouring tokens, heads and chunks. k's heads follow q's
// heads.
struct Job {
  rope_call call;
  std::int64_t heads;   // of q and k
  std::int64_t tokens;  // of all batches
  std::int64_t units;
  std::int64_t stretches;      // units along the chunks of a head,
  std::int64_t groups;         // along the heads
  std::int32_t width;          // pairs of a chunk
  std::int32_t rotary_chunks;  // of a head
  std::int32_t chunks;         // including pass-through chunks
  Divisor unit_chunks;         // of a unit
  std::int32_t unit_heads;
  std::int32_t unit_tokens;
  Divisor columns;                  // of a unit, a chunk of a token each
  std::int32_t lanes;               // heads that a block turns at once
  std::uint32_t places;             // columns * lanes: what the threads share
  Divisor slots;                    // pairs of a unit with a cos and a sin in shared memory, counted for each token
  std::int32_t in_double;           // the working type
  std::int32_t two_rows;            // the two features of a pair have their own rows
  const double* many_theta;         // if there are more than few_pairs; laid out as few_theta
  double few_theta[2 * few_pairs];  // ROPE_COMPUTED: theta of each pair, then the low part of each
};

static_assert(std::is_trivially_copyable_v<Job> && sizeof(Job) <= 4096);  // every device takes a parameter this large

}  // namespace rope::cuda
