// From a call to the jobs of the kernel: the host's side of it, without CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/cuda/job.hpp"

namespace rope::cuda {

// How large a unit is to be.
struct Cut {
  std::uint32_t threads;  // of a block; more may be launched, and do little
  std::uint32_t items;    // chunks of a unit, about; at least one token of one head
};

// A job whose many_theta is still to be set, and what it is to point to; empty where few_theta has it.
struct Plan {
  Job job;
  std::vector<double> many_theta;
  std::size_t shared_bytes;
};

// The most pairs that a chunk can have: as many as 16 bytes hold where addresses, strides and rotary_dim allow loads of
// so many, else 1.
std::int32_t widest_chunk(const rope_call& call);

// The call must have passed check_call. Reads nothing that its pointers point to but scaling's lists.
Plan plan_of(const rope_call& call, const Cut& cut, std::int32_t width);

}  // namespace rope::cuda
