// From a call to the jobs of the kernel: the host's part, without CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/cuda/job.hpp"

namespace rope::cuda {

// The size of a unit.
struct Cut {
  std::uint32_t threads;  // of a block; extra threads of a launch do little
  std::uint32_t items;    // chunks of a unit, approximately; at least one token of one head
};

// A job whose many_theta is still to be set, and the values for it; empty if few_theta has them.
struct Plan {
  Job job;
  std::vector<double> many_theta;
  std::size_t shared_bytes;
};

// The most pairs that a chunk can have: as many as 16 bytes hold if addresses, strides and rotary_dim allow such loads,
// else 1.
std::int32_t widest_chunk(const rope_call& call);

// The call must have passed check_call. Follows none of its pointers except scaling's lists.
Plan plan_of(const rope_call& call, const Cut& cut, std::int32_t width);

}  // namespace rope::cuda
