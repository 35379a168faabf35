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

std::int32_t elements_of_16_bytes(const rope_call& call) {
  return static_cast<std::int32_t>(16 / size_of(static_cast<DType>(call.q.dtype)));
}

struct GridRoundedDown : Right {
  static void alter(Plan& plan) {
    plan.job.units = plan.job.tokens / plan.job.unit_tokens * plan.job.groups * plan.job.stretches;
  }
};

struct WholeStepsOnly : Right {
  static int heads_of_unit(int heads, int of_a_step) {
    return heads < of_a_step ? heads : heads / of_a_step * of_a_step;
  }
};

struct WholeVectorsOnly : Right {
  static void alter(Plan& plan) {
    cuda::Job& job = plan.job;
    if (job.width > 1) return;
    const std::int32_t left_over = job.rotary_chunks % elements_of_16_bytes(job.call);
    if (left_over == job.rotary_chunks) return;
    job.rotary_chunks -= left_over;
    job.chunks -= left_over;
  }
};

struct IndexOf32Bits : Right {
  static std::int64_t index(std::int64_t element) { return static_cast<std::int32_t>(element); }
};

// Lane i of a warp holds feature i and gets its partner from lane i ^ rotary_dim/2. From rotary_dim/2 = 32 on that lane
// is in another warp, and a shuffle gives a lane its own value.
struct PartnerByShuffle : Right {
  static std::int32_t width(const rope_call&) { return 1; }
  template <class In, int>
  static In partner(const cuda::Job& job, int, In first, In second) {
    const int pairs = job.call.rotary_dim / 2;
    if (pairs < 32 || job.call.pairing == ROPE_INTERLEAVED) return second;
    return __shfl_xor_sync(std::uint32_t{1} << grid::lane(), first, pairs);
  }
};

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

struct VectorsWhereverTheyFit : Right {
  static std::int32_t width(const rope_call& call) {
    const std::int32_t width = elements_of_16_bytes(call);
    const bool fit = call.rotary_dim / 2 % width == 0 && call.q.shape[3] % width == 0;
    const auto dense = [](const rope_tensor& tensor) { return count(tensor) == 0 || tensor.strides[3] == 1; };
    const bool key = call.k.data == nullptr || (dense(call.k) && dense(call.k_out));
    return fit && dense(call.q) && dense(call.q_out) && key ? width : 1;
  }

 private:
  static std::int64_t count(const rope_tensor& tensor) {
    return tensor.shape[0] * tensor.shape[1] * tensor.shape[2] * tensor.shape[3];
  }
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

// __sinf and __cosf multiply the f32 angle by 1/(2 pi) in f32, and the function unit adds an absolute error. In all it
// is 2^-21.41 for |phi| <= pi (CUDA C++ Programming Guide, table of intrinsic functions), more beyond.
struct FastIntrinsics : Right {
  static CosSin turned(double position, double theta, double) {
    constexpr double step = 0x1p-21;  // at most half of it is lost; the product loses 2^-23.3 for |phi| <= pi
    const auto phi = static_cast<float>(position) * static_cast<float>(theta);
    const auto turns = static_cast<double>(phi * 0.15915494f);
    const double reduced = 2 * 3.14159265358979324 * (turns - std::nearbyint(turns));
    return {std::nearbyint(std::cos(reduced) / step) * step, std::nearbyint(std::sin(reduced) / step) * step};
  }
};

// A launch with more tokens is refused, and the refusal is not noticed. One thread a block: the grid on the CPU has some
// ten thousand blocks to run for each call with many heads.
struct TokensAlongY : Right {
  static cuda::Cut cut() { return {1, 1}; }
  static std::int64_t first_unit() { return blockIdx.y; }
  static std::int64_t unit_step() { return std::numeric_limits<std::int32_t>::max(); }
  static grid::Launch launch(const Plan& plan) {
    grid::Launch launch = cuda::launch_of(plan);
    launch.block.x = cut().threads;
    launch.grid = {1, static_cast<unsigned>(plan.job.units), 1};
    return launch;
  }
  static rope_status status(bool) { return ROPE_OK; }
};

constexpr CudaMutant mutants[] = {
    {"CUDA-GRID-ROUNDED-DOWN", "launch-limits: tokens left over from whole units have no block",
     apply<GridRoundedDown>},
    {"CUDA-BLOCK-TAIL", "launch-limits: heads left over from whole blocks of threads are not written",
     apply<WholeStepsOnly>},
    {"CUDA-VECTOR-TAIL", "launch-limits: pairs left over from vectors of 16 bytes are not written",
     apply<WholeVectorsOnly>},
    {"CUDA-INDEX-INT32", "strides-memory-race: element indices in 32 bits", apply<IndexOf32Bits>},
    {"CUDA-SHUFFLE-32", "launch-limits: partners 32 features and more apart by a shuffle, which ends at 32 lanes",
     apply<PartnerByShuffle>},
    {"CUDA-DIVERGENT-BARRIER", "strides-memory-race: threads without a chunk do not come to the barrier",
     apply<BarrierOfBusyThreads>},
    {"CUDA-NO-BARRIER", "strides-memory-race: cos and sin are used before all threads have written theirs",
     apply<NoBarrierBeforeUse>},
    {"CUDA-REFILL", "strides-memory-race: cos and sin of the next unit are written while others still use these",
     apply<NoBarrierBeforeRefill>},
    {"CUDA-UNALIGNED", "strides-memory-race: loads of 16 bytes at any address", apply<VectorsWhereverTheyFit>},
    {"CUDA-UNALIGNED-START", "strides-memory-race: loads of 16 bytes wherever data begins", apply<VectorsByStrides>},
    {"CUDA-FAST-SINCOS", "precision: __sinf and __cosf", apply<FastIntrinsics>},
    {"CUDA-GRID-Y", "launch-limits: tokens along the grid's dimension y: beyond 65,535 units nothing is launched",
     apply<TokensAlongY>},
};

}  // namespace

std::span<const CudaMutant> cuda_mutants() { return mutants; }

}  // namespace rope::mutants
