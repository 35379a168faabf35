// The CUDA kernel by way of the grid shim.
#pragma once

#include <optional>
#include <string>

#include "impls/cuda/grid_shim.hpp"
#include "impls/cuda/variant.hpp"

namespace rope::cuda {

// Two warps, so that what one lane does for another warp is wrong here too, and units that spread over many chunks what
// the threads' waiting for each other costs.
constexpr Cut cut_for_cpu{64, 4096};
constexpr std::int64_t blocks_on_cpu = 3;  // few: each takes many units

inline grid::Launch launch_of(const Plan& plan) {
  grid::Launch launch;
  launch.grid.x = static_cast<unsigned>(std::min(plan.job.units, blocks_on_cpu));
  launch.block.x = cut_for_cpu.threads;
  launch.shared_bytes = plan.shared_bytes;
  return launch;
}

// Where the launch has a fault, what it is.
template <class Policy>
std::optional<std::string> run_on_cpu(const Plan& plan, const grid::Launch& launch) {
  Job job = plan.job;
  if (!plan.many_theta.empty()) job.many_theta = plan.many_theta.data();
  std::optional<std::string> fault;
  with_variant(job, [&]<class V>(V) { fault = grid::run(launch, [&job] { rotate<V, Policy>(job); }); });
  return fault;
}

}  // namespace rope::cuda
