// legal_*.so: one line a kernel, made of its angles, its arithmetic and its claims.
#include <cstdint>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "tests/legal/angles.hpp"
#include "tests/legal/kernel.hpp"

namespace rope::legal {
namespace {

#if defined(__SSE2__)
// For as long as it lives, results below the smallest normal number are 0, and so are such operands.
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

std::int32_t apply_flushing(const rope_call* call) {
  [[maybe_unused]] const FlushToZero mode;
  return apply<Exact, Plain, everything>(call);
}

template <template <class> class Angles, class Arithmetic = Plain, rope_capabilities (*claims)() = everything>
rope_kernel kernel(const char* name, const char* description) {
  return {sizeof(rope_kernel), ROPE_KERNEL_ABI, name, description, apply<Angles, Arithmetic, claims>, claims()};
}

constexpr auto floats = up_to_2_24;  // claims of a kernel that makes positions floats

const rope_kernel kernels[] = {
    // How the angles come to be.
    kernel<Exact>("exact", "angles in double, arithmetic in the working type"),
    kernel<ByPower, Plain, floats>("power", "theta = base^-e, phi, cos and sin in the working type"),
    kernel<ByReciprocal, Plain, floats>("reciprocal", "theta = 1 / base^e"),
    kernel<ByExponential, Plain, floats>("exponential", "theta = exp(-e log(base))"),
    kernel<ByRecurrence, Plain, floats>("recurrence", "theta by repeated multiplication with base^(-2/r)"),
    kernel<LooseFunctions, Plain, floats>("loose_functions", "sin and cos off by up to 4 ulp in f64"),
    // What 16-bit types cost.
    kernel<Exact, TablesRounded>("rounded_tables", "exact angles, cos and sin in the type of x"),
    kernel<ByReciprocal, TablesRounded, floats>("rounded_tables_b", "f32 angles, cos and sin in the type of x"),
    kernel<ByReciprocal, EachRounded, floats>("rounded_each", "f32 angles, every operation in the type of x"),
    kernel<ByRecurrence, EachRounded, floats>("rounded_recurrence", "the loosest that is legal: C3"),
    kernel<Exact, RotateHalf>("rotate_half", "x * cos + rotate_half(x) * sin in two passes"),
    // The order of operations.
    kernel<Exact, FusedCos>("fma_cos", "fma(a, c, -(b s))"),
    kernel<Exact, FusedSin>("fma_sin", "fma(-b, s, a c)"),
    kernel<Exact, FusedInBlocks>("fma_blocks", "FMA for four tokens at a time, none for those left over"),
    kernel<Exact, VectorBody>("vector", "eight pairs at a time, the tail associated otherwise"),
    kernel<Exact, Complex, equal_halves>("complex", "(a + ib)(cos + i sin)"),
    {sizeof(rope_kernel), ROPE_KERNEL_ABI, "ftz", "subnormal results and operands are 0", apply_flushing, everything()},
    // Narrow claims.
    kernel<Exact, Plain, f64_from_f32>("f64_from_f32", "f64 from f32 tables"),
    kernel<Exact, Plain, f32_tables>("f32_tables", "half_split, f32, half-width f32 tables, no feature"),
    kernel<ByReciprocal, Plain, bf16_in_place>("bf16_in_place", "bf16, in place, q and k, positions given"),
    kernel<Exact, Plain, head_dim_128>("head_dim_128", "no other head_dim"),
    kernel<Exact, Plain, aligned_to_64>("aligned", "refuses pointers that are not aligned to 64 bytes"),
    kernel<Exact, Plain, no_offset>("no_offset", "positions are given or start at 0"),
    kernel<Exact, Plain, up_to_4095>("up_to_4095", "positions up to 4095"),
    kernel<Exact, Plain, up_to_127>("up_to_127", "positions up to 127"),
    kernel<Exact, Plain, bf16_to_f32>("bf16_to_f32", "bf16 in, f32 out"),
    kernel<Exact, Plain, computed_alone>("computed", "no tables, no frequencies"),
    kernel<Exact, Plain, i32_positions>("i32_positions", "int32 positions"),
    kernel<Exact, Plain, full_tables>("full_tables", "full-width tables"),
};

}  // namespace
}  // namespace rope::legal

uint32_t rope_kernel_count() { return static_cast<std::uint32_t>(std::size(rope::legal::kernels)); }

const rope_kernel* rope_kernel_get(uint32_t index) {
  return index < rope_kernel_count() ? &rope::legal::kernels[index] : nullptr;
}
