// Kernels that claim a CUDA device and run on the fake driver beside this file. One is right, one is right and waits.
// Each of the others has one mistake that needs a device.
#include <cstddef>
#include <memory>
#include <string>

#include "impls/builtin.hpp"
#include "impls/claims.hpp"
#include "reference/dtype.hpp"

extern "C" {
void fake_cuda_fail();
void fake_cuda_report(const char* tool, const char* words);
void fake_cuda_read(const void* address, std::size_t bytes);
int cuCtxSetCurrent(void* context);
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes);
int cuLaunchHostFunc(void* stream, void (*function)(void*), void* argument);
int cuStreamSynchronize(void* stream);
}

namespace {

constexpr std::int32_t call_alignment = 4096;

constexpr rope_capabilities on_device() {
  rope_capabilities claims = rope::everything_on_cpu(ROPE_BIT(ROPE_HALF_SPLIT));
  claims.device = ROPE_CUDA;
  claims.features &= ~ROPE_BIT(ROPE_FEATURE_ROBUST);
  return claims;
}

std::int32_t compute(const rope_call& given) {
  rope_call call = given;
  call.device = ROPE_CPU;
  call.stream = nullptr;
  return rope::half_split_kernel().apply(&call);
}

// Like a launch: it copies the call, and returns before the work is done.
std::int32_t launch(const rope_call* call, void (*body)(const rope_call&)) {
  if (call->device != ROPE_CUDA || call->stream == nullptr) return ROPE_UNSUPPORTED;
  struct Work {
    rope_call call;
    void (*body)(const rope_call&);
  };
  const auto work = [](void* argument) {
    const std::unique_ptr<Work> owned(static_cast<Work*>(argument));
    owned->body(owned->call);
  };
  return cuLaunchHostFunc(call->stream, work, new Work{*call, body}) == 0 ? ROPE_OK : ROPE_FAILED;
}

void rotate(const rope_call& call) { compute(call); }

std::int32_t right(const rope_call* call) { return launch(call, rotate); }

std::int32_t waiting(const rope_call* call) {
  const std::int32_t status = right(call);
  cuStreamSynchronize(call->stream);
  return status;
}

std::int32_t default_stream(const rope_call* call) { return compute(*call); }

// A driver waits for all streams when it loads code.
std::int32_t default_stream_loading(const rope_call* call) {
  static const int loaded = cuStreamSynchronize(call->stream);
  return loaded == 0 ? compute(*call) : ROPE_FAILED;
}

std::int32_t leaving_context(const rope_call* call) {
  const std::int32_t status = right(call);
  cuCtxSetCurrent(nullptr);
  return status;
}

std::int32_t leaking(const rope_call* call) {
  std::uint64_t never_freed = 0;
  cuMemAlloc_v2(&never_freed, 1 << 20);
  return right(call);
}

std::int32_t aligned(const rope_call* call) {
  const auto address = reinterpret_cast<std::uintptr_t>(call->q.data);
  return address % call_alignment == 0 ? right(call) : ROPE_INVALID_ARGUMENT;
}

std::int32_t writing_input(const rope_call* call) {
  return launch(call, [](const rope_call& c) {
    rotate(c);
    static_cast<std::byte*>(c.q.data)[0] ^= std::byte{1};
  });
}

std::int32_t writing_before(const rope_call* call) {
  return launch(call, [](const rope_call& c) {
    rotate(c);
    static_cast<std::byte*>(c.q_out.data)[-5000] ^= std::byte{1};
  });
}

std::int32_t writing_after(const rope_call* call) {
  return launch(call, [](const rope_call& c) {
    rotate(c);
    std::byte* end = static_cast<std::byte*>(c.q_out.data) +
                     c.q_out.shape[0] * c.q_out.shape[1] * c.q_out.shape[2] * c.q_out.shape[3] * 4;
    end[8000] ^= std::byte{1};
  });
}

std::int32_t faulting(const rope_call* call) {
  return launch(call, [](const rope_call&) { fake_cuda_fail(); });
}

// Reads the element behind the last of q; the result does not show it.
std::int32_t reading_beyond(const rope_call* call) {
  return launch(call, [](const rope_call& c) {
    rotate(c);
    const rope_tensor& q = c.q;
    std::int64_t behind = 1;
    for (int i = 0; i < 4; ++i) behind += (q.shape[i] - 1) * q.strides[i];
    const std::size_t size = rope::size_of(static_cast<rope::DType>(q.dtype));
    fake_cuda_read(static_cast<const std::byte*>(q.data) + behind * static_cast<std::int64_t>(size), size);
  });
}

// Reads the first element of q, which holds a value, and of the output, before it is written.
std::int32_t reading_output(const rope_call* call) {
  return launch(call, [](const rope_call& c) {
    const std::size_t size = rope::size_of(static_cast<rope::DType>(c.q.dtype));
    fake_cuda_read(c.q.data, size);
    fake_cuda_read(c.q_out.data, size);
    rotate(c);
  });
}

std::int32_t failing(const rope_call*) { return ROPE_FAILED; }

void report_race(const rope_call& c) {
  rotate(c);
  fake_cuda_report("racecheck",
                   "========= Error: Race reported between Write access at rotate(rope_call)+0x90 in kernel.cu:41\n"
                   "=========     and Read access at rotate(rope_call)+0x100 in kernel.cu:51 [508 hazards]\n"
                   "=========\n");
}

std::int32_t racing(const rope_call* call) { return launch(call, report_race); }

// Shows no race in the first calls of a process, and one in each later call.
std::int32_t racing_later(const rope_call* call) {
  static int calls = 0;
  return launch(call, ++calls > 10 ? report_race : rotate);
}

constexpr rope_kernel kernel(const char* name, std::int32_t (*apply)(const rope_call*)) {
  return {sizeof(rope_kernel), ROPE_KERNEL_ABI, name, "on the fake driver", apply, on_device()};
}

constexpr rope_kernel aligned_kernel() {
  rope_kernel claiming = kernel("aligned", aligned);
  claiming.claims.alignment = call_alignment;
  return claiming;
}

constexpr rope_kernel kernels[] = {
    kernel("right", right),
    kernel("waiting", waiting),
    kernel("default_stream", default_stream),
    kernel("default_stream_loading", default_stream_loading),
    kernel("leaving_context", leaving_context),
    kernel("leaking", leaking),
    aligned_kernel(),
    kernel("writing_input", writing_input),
    kernel("writing_before", writing_before),
    kernel("writing_after", writing_after),
    kernel("faulting", faulting),
    kernel("reading_beyond", reading_beyond),
    kernel("reading_output", reading_output),
    kernel("failing", failing),
    kernel("racing", racing),
    kernel("racing_later", racing_later),
};

}  // namespace

extern "C" {
std::uint32_t rope_kernel_count(void) { return std::size(kernels); }
const rope_kernel* rope_kernel_get(std::uint32_t index) {
  return index < std::size(kernels) ? &kernels[index] : nullptr;
}
const char* rope_last_error(void) { return "cudaLaunchKernel: out of patience"; }
}
