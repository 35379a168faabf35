#include "impls/cuda/on_cpu.hpp"

#include <exception>

#include "impls/builtin.hpp"
#include "impls/call_check.hpp"
#include "impls/claims.hpp"

namespace rope {
namespace {

constexpr rope_capabilities claims = everything_on_cpu(ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED));

std::int32_t apply(const rope_call* call) {
  const rope_status status = check_call(call, claims);
  if (status != ROPE_OK) return status;
  try {
    const cuda::Plan plan = cuda::plan_of(*call, cuda::cut_for_cpu, cuda::widest_chunk(*call));
    if (plan.job.units == 0) return ROPE_OK;
    return cuda::run_on_cpu<cuda::AsIntended>(plan, cuda::launch_of(plan)) ? ROPE_FAILED : ROPE_OK;
  } catch (const std::exception&) {
    return ROPE_FAILED;
  }
}

}  // namespace

const rope_kernel& cuda_on_cpu_kernel() {
  static constexpr rope_kernel kernel{
      sizeof(rope_kernel), ROPE_KERNEL_ABI, "cuda-on-cpu", "the CUDA kernel in a grid on the CPU", apply, claims};
  return kernel;
}

}  // namespace rope
