// libropecheck_cuda.so, if nvcc built it, on a machine with or without a device.
#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/unit/impls/test_call.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

using test::TestCall;

struct Close {
  void operator()(void* library) const { dlclose(library); }
};

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

TEST_CASE("the CUDA library refuses visible errors, touches no device memory, and says why CUDA fails") {
  const auto path = build_folder() / "libropecheck_cuda.so";
  if (!std::filesystem::exists(path)) {
    WARN("not built: no nvcc");
    return;
  }
  const std::unique_ptr<void, Close> library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  REQUIRE(library);
  REQUIRE(symbol<std::uint32_t()>(library.get(), "rope_kernel_count")() == 1);
  auto* const get = symbol<const rope_kernel*(std::uint32_t)>(library.get(), "rope_kernel_get");
  CHECK(get(1) == nullptr);
  const rope_kernel& kernel = *get(0);
  CHECK(std::string(kernel.name) == "cuda");
  CHECK(kernel.claims.device == ROPE_CUDA);
  CHECK((kernel.claims.features & ROPE_BIT(ROPE_FEATURE_ROBUST)) == 0);

  TestCall t(DType::f32, DType::f32, 2, 3, 4, 16);
  CHECK(kernel.apply(nullptr) == ROPE_INVALID_ARGUMENT);
  CHECK(kernel.apply(&t.call) == ROPE_UNSUPPORTED);
  t.call.device = ROPE_CUDA;
  t.call.rotary_dim = 3;
  CHECK(kernel.apply(&t.call) == ROPE_INVALID_ARGUMENT);

  // Addresses that no host may read, and a device that no machine has: only CUDA can find both.
  t.call.rotary_dim = 16;
  t.call.device_index = 1000000;
  void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{0x1000});
  t.call.q.data = t.call.q_out.data = nowhere;
  t.call.positions = {nowhere, ROPE_I32, 1, 0, 0, 1, 0};
  t.call.axis = static_cast<const std::int32_t*>(nowhere);
  for (const std::int32_t source : {ROPE_TABLES, ROPE_FREQUENCIES, ROPE_COMPUTED}) {
    t.call.angle_source = source;
    t.call.table = {nowhere, nowhere, ROPE_F32, 16, 4, 16};
    t.call.theta = nowhere;
    t.call.theta_dtype = ROPE_F64;
    CHECK(kernel.apply(&t.call) == ROPE_FAILED);
    const std::string error = symbol<const char*()>(library.get(), "rope_last_error")();
    CHECK_THAT(error, Catch::StartsWith("cuda"));
    CHECK_THAT(error, Catch::Contains(": "));
  }
}

}  // namespace
}  // namespace rope
