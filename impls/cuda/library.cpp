// libropecheck_cuda.so: the kernel `cuda`.
#include "impls/call_check.hpp"
#include "impls/claims.hpp"
#include "impls/cuda/launch.hpp"

namespace {

constexpr rope_capabilities claims = rope::everything_on_cuda();

std::int32_t apply(const rope_call* call) {
  const rope_status status = rope::check_call(call, claims);
  return status != ROPE_OK ? status : rope::cuda::launch(*call);
}

constexpr rope_kernel kernel{
    sizeof(rope_kernel), ROPE_KERNEL_ABI, "cuda", "one launch for q and k, either pairing", apply, claims};

}  // namespace

uint32_t rope_kernel_count() { return 1; }

const rope_kernel* rope_kernel_get(uint32_t index) { return index == 0 ? &kernel : nullptr; }

const char* rope_last_error() { return rope::cuda::error(); }
