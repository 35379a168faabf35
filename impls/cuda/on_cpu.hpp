// The CUDA kernel on the grid shim.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "impls/cuda/grid_shim.hpp"
#include "impls/cuda/variant.hpp"

namespace rope::cuda {

// Two warps, so that work which one lane does for another warp is wrong here too. Large units spread over many chunks
// the cost of threads that wait for each other.
constexpr Cut cut_for_cpu{64, 4096};
constexpr std::int64_t blocks_on_cpu = 3;  // few, so that each takes many units

inline grid::Launch launch_of(const Plan& plan) {
  grid::Launch launch;
  launch.grid.x = static_cast<unsigned>(std::min(plan.job.units, blocks_on_cpu));
  launch.block.x = cut_for_cpu.threads;
  launch.shared_bytes = plan.shared_bytes;
  return launch;
}

// Returns the launch's fault, if it has one.
template <class Policy>
std::optional<std::string> run_on_cpu(const Plan& plan, const grid::Launch& launch) {
  Job job = plan.job;
  if (!plan.many_theta.empty()) job.many_theta = plan.many_theta.data();
  std::optional<std::string> fault;
  with_variant(job, [&]<class V>(V) { fault = grid::run(launch, [&job] { rotate<V, Policy>(job); }); });
  return fault;
}

}  // namespace rope::cuda
