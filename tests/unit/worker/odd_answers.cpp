// Kernels that throw classes called as the worker's own marks, and kernels whose status is none.
#include <cstdint>
#include <stdexcept>

#include "impls/include/rope_kernel.h"

struct no_room : std::exception {};
struct invalid_argument : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The classes by which the worker says that a call had no room, and that its device is lost.
namespace rope::worker {
struct CannotPlace : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct CudaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace rope::worker

namespace {

std::int32_t throw_no_room(const rope_call*) { throw no_room(); }
std::int32_t throw_invalid_argument(const rope_call*) { throw invalid_argument("odd"); }
std::int32_t throw_bad_alloc(const rope_call*) { throw std::bad_alloc(); }
std::int32_t throw_cannot_place(const rope_call*) { throw rope::worker::CannotPlace("no room at all"); }
std::int32_t throw_cuda_error(const rope_call*) { throw rope::worker::CudaError("lost"); }
std::int32_t return_256(const rope_call*) { return 256; }
std::int32_t return_2_16(const rope_call*) { return 1 << 16; }
std::int32_t return_least(const rope_call*) { return INT32_MIN; }

rope_kernel kernel(const char* name, std::int32_t (*apply)(const rope_call*)) {
  rope_kernel result{};
  result.struct_size = sizeof(rope_kernel);
  result.abi = ROPE_KERNEL_ABI;
  result.name = name;
  result.apply = apply;
  result.claims.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  result.claims.table_dtypes = ROPE_BIT(ROPE_F32);
  result.claims.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  result.claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  result.claims.half_tables = 1;
  result.claims.scalings = ROPE_BIT(ROPE_SCALING_NONE);
  result.claims.max_position = 1 << 20;
  return result;
}

const rope_kernel kernels[] = {
    kernel("no_room", throw_no_room),           kernel("invalid_argument", throw_invalid_argument),
    kernel("bad_alloc", throw_bad_alloc),       kernel("cannot_place", throw_cannot_place),
    kernel("cuda_error", throw_cuda_error),     kernel("returns_256", return_256),
    kernel("returns_2_16", return_2_16),        kernel("returns_least", return_least),
};

}  // namespace

extern "C" std::uint32_t rope_kernel_count() { return sizeof kernels / sizeof *kernels; }
extern "C" const rope_kernel* rope_kernel_get(std::uint32_t index) {
  return index < rope_kernel_count() ? &kernels[index] : nullptr;
}
