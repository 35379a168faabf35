#include "tests/kernels/mutants/cuda.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "impls/call_check.hpp"
#include "impls/cuda/on_cpu.hpp"
#include "tests/kernels/mutants/kernel.hpp"

namespace rope::mutants {
namespace {

using cuda::AsIntended;
using cuda::Plan;

// The right kernel with everything that an edit may change: the kernel's policy, and how the work is divided.
struct Right : AsIntended {
  static cuda::Cut cut() { return cuda::cut_for_cpu; }
  static std::int32_t width(const rope_call& call) { return cuda::widest_chunk(call); }
  static void alter(Plan&) {}
  static grid::Launch launch(const Plan& plan) { return cuda::launch_of(plan); }
  static rope_status status(bool fault) { return fault ? ROPE_FAILED : ROPE_OK; }
};

template <class Edit>
std::int32_t apply(const rope_call* call) {
  const rope_status refused = check_call(call, claims());
  if (refused != ROPE_OK) return refused;
  try {
    Plan plan = cuda::plan_of(*call, Edit::cut(), Edit::width(*call));
    Edit::alter(plan);
    if (plan.job.units == 0) return ROPE_OK;
    return Edit::status(cuda::run_on_cpu<Edit>(plan, Edit::launch(plan)).has_value());
  } catch (const std::exception&) {
    return ROPE_FAILED;
  }
}

struct BarrierOfBusyThreads : Right {
  static void rows_are_filled(bool has_chunk) {
    if (has_chunk) __syncthreads();
  }
};

struct NoBarrierBeforeUse : Right {
  static void rows_are_filled(bool) {}
};

struct NoBarrierBeforeRefill : Right {
  static void rows_are_used() {}
};

// The strides are checked, but not the address of the data.
struct VectorsByStrides : Right {
  static std::int32_t width(const rope_call& call) {
    rope_call aligned = call;
    for (rope_tensor* tensor : {&aligned.q, &aligned.q_out, &aligned.k, &aligned.k_out}) {
      if (tensor->data != nullptr) tensor->data = somewhere;
    }
    return cuda::widest_chunk(aligned);
  }

 private:
  alignas(16) static inline std::byte somewhere[16];
};

constexpr CudaMutant mutants[] = {
    {"CUDA-DIVERGENT-BARRIER", "strides-memory-race: threads without a chunk do not come to the barrier",
     apply<BarrierOfBusyThreads>},
    {"CUDA-NO-BARRIER", "strides-memory-race: cos and sin are used before all threads have written theirs",
     apply<NoBarrierBeforeUse>},
    {"CUDA-REFILL", "strides-memory-race: cos and sin of the next unit are written while others still use these",
     apply<NoBarrierBeforeRefill>},
    {"CUDA-UNALIGNED-START", "strides-memory-race: loads of 16 bytes wherever data begins", apply<VectorsByStrides>},
};

}  // namespace

std::span<const CudaMutant> cuda_mutants() { return mutants; }

}  // namespace rope::mutants
