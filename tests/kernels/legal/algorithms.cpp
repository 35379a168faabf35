#include "tests/kernels/legal/algorithms.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "tests/kernels/legal/angles.hpp"
#include "tests/kernels/legal/kernel.hpp"

namespace rope::legal {
namespace {

#if defined(__SSE2__)
// While it lives, results and operands below the smallest normal number are 0.
class FlushToZero {
 public:
  FlushToZero() { _mm_setcsr(before_ | 0x8040u); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;
  ~FlushToZero() { _mm_setcsr(before_); }

 private:
  unsigned before_ = _mm_getcsr();
};
#else
class FlushToZero {};  // other processors have other switches: there the kernel is `exact`
#endif

std::int32_t apply_flushing(const rope_call* call, const rope_capabilities& claims) {
  [[maybe_unused]] const FlushToZero mode;
  return apply<Exact, Plain>(call, claims);
}

// Of kernels that would not survive another call.
constexpr auto exactly_claimed = apply<Exact, Plain, check_or_abort>;

constexpr auto floats = up_to_2_24;  // claims of a kernel that makes positions floats

}  // namespace

const std::array<Algorithm, 17> algorithms{{
    // How angles are computed.
    {"exact", "angles in double, arithmetic in the working type", apply<Exact, Plain>, everything},
    {"power", "theta = base^-e, phi, cos and sin in the working type", apply<ByPower, Plain>, floats},
    {"reciprocal", "theta = 1 / base^e", apply<ByReciprocal, Plain>, floats},
    {"exponential", "theta = exp(-e log(base))", apply<ByExponential, Plain>, floats},
    {"recurrence", "theta by repeated multiplication with base^(-2/r)", apply<ByRecurrence, Plain>, floats},
    {"loose_functions", "sin and cos off by up to 4 ulp in f64", apply<LooseFunctions, Plain>, floats},
    // What is rounded to 16-bit types.
    {"rounded_tables", "exact angles, cos and sin in the type of x", apply<Exact, TablesRounded>, everything},
    {"rounded_tables_b", "f32 angles, cos and sin in the type of x", apply<ByReciprocal, TablesRounded>, floats},
    {"rounded_each", "f32 angles, every operation in the type of x", apply<ByReciprocal, EachRounded>, floats},
    {"rounded_recurrence", "the loosest that is legal: C3", apply<ByRecurrence, EachRounded>, floats},
    {"rotate_half", "x * cos + rotate_half(x) * sin in two passes", apply<Exact, RotateHalf>, everything},
    // The order of operations.
    {"fma_cos", "fma(a, c, -(b s))", apply<Exact, FusedCos>, everything},
    {"fma_sin", "fma(-b, s, a c)", apply<Exact, FusedSin>, everything},
    {"fma_blocks", "FMA for four tokens at a time, none for those left over", apply<Exact, FusedInBlocks>, everything},
    {"vector", "eight pairs at a time, the tail associated otherwise", apply<Exact, VectorBody>, everything},
    {"complex", "(a + ib)(cos + i sin)", apply<Exact, Complex>, equal_halves},
    {"ftz", "subnormal results and operands are 0", apply_flushing, everything},
}};

const std::array<Algorithm, 18> narrow_algorithms{{
    {"f64_from_f32", "f64 from f32 tables", apply<Exact, Plain>, f64_from_f32},
    {"f32_tables", "half_split, f32, half-width f32 tables, no feature", apply<Exact, Plain>, f32_tables},
    {"bf16_in_place", "bf16, in place, q and k, positions given", apply<ByReciprocal, Plain>, bf16_in_place},
    {"head_dim_128", "no other head_dim", apply<Exact, Plain>, head_dim_128},
    {"aligned", "refuses pointers that are not aligned to 64 bytes", apply<Exact, Plain>, aligned_to_64},
    {"no_offset", "positions are given or start at 0", apply<Exact, Plain>, no_offset},
    {"up_to_4095", "positions up to 4095", apply<Exact, Plain>, up_to_4095},
    {"up_to_127", "positions up to 127", apply<Exact, Plain>, up_to_127},
    {"bf16_to_f32", "bf16 in, f32 out", apply<Exact, Plain>, bf16_to_f32},
    {"computed", "no tables, no frequencies", apply<Exact, Plain>, computed_alone},
    {"i32_positions", "int32 positions", apply<Exact, Plain>, i32_positions},
    {"full_tables", "full-width tables", apply<Exact, Plain>, full_tables},
    {"always_in_place", "aborts out of place", exactly_claimed, always_in_place},
    {"always_positions", "aborts where positions are not given", exactly_claimed, always_positions},
    {"always_packed", "aborts without k, or if q and k are not packed", exactly_claimed, always_packed},
    {"engine", "tables, positions, in place, q and k packed; aborts otherwise", exactly_claimed, of_an_engine},
    {"model", "three interleaved axes, heads first, own factor and length; aborts otherwise", exactly_claimed,
     of_a_model},
    {"periods", "given frequencies, used as periods", apply<ByPeriod, Plain>, periods},
}};

}  // namespace rope::legal
