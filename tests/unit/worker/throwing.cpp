// Kernels in C++: one lets an exception escape; one crashes the process that loads it, if it is asked to.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "impls/include/rope_kernel.h"

namespace {

std::int32_t throw_out_of_range(const rope_call*) { throw std::out_of_range("row 40 of 32"); }

struct CrashWhileLoading {
  CrashWhileLoading() {
    if (std::getenv("CRASH_WHILE_LOADING") != nullptr) std::abort();
  }
} crash_while_loading;

rope_kernel kernel() {
  rope_kernel result{};
  result.struct_size = sizeof(rope_kernel);
  result.abi = ROPE_KERNEL_ABI;
  result.name = "throws";
  result.description = "lets an exception escape";
  result.apply = throw_out_of_range;
  result.claims.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  result.claims.table_dtypes = ROPE_BIT(ROPE_F32);
  result.claims.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  result.claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  result.claims.half_tables = 1;
  result.claims.scalings = ROPE_BIT(ROPE_SCALING_NONE);
  result.claims.max_position = 1 << 20;
  return result;
}

}  // namespace

extern "C" std::uint32_t rope_kernel_count() { return 1; }
extern "C" const rope_kernel* rope_kernel_get(std::uint32_t index) {
  static const rope_kernel only = kernel();
  return index == 0 ? &only : nullptr;
}
