// device_cpu.so: the kernels in the grid on the CPU, and their streams on the fake driver (tests/unit/worker).
#include <memory>

#include "tests/kernels/device/rotation.hpp"

extern "C" {
void fake_cuda_fail();
int cuLaunchHostFunc(void* stream, void (*function)(void*), void* argument);
int cuStreamSynchronize(void* stream);
}

namespace rope::device_kernels {
namespace {

constexpr unsigned most_threads = 1024, most_blocks_y = 65535;

// As on a device, a fault of the running kernel is an error of the context.
template <class Edit>
void run_on_cpu(void* argument) {
  const std::unique_ptr<const rope_call> call(static_cast<const rope_call*>(argument));
  const Grid grid = Edit::grid(*call);
  const grid::Launch launch{{grid.blocks_x, grid.blocks_y, 1}, {grid.threads, 1, 1}, grid.threads * sizeof(Turn)};
  if (grid::run(launch, [&] { Edit::template run<Edit>(*call); })) fake_cuda_fail();
}

template <class Edit>
rope_status queue(const rope_call& call) {
  const Grid grid = Edit::grid(call);
  if (grid.threads > most_threads || grid.blocks_y > most_blocks_y) {
    return Edit::asks_whether_it_started ? ROPE_FAILED : ROPE_OK;
  }
  auto copy = std::make_unique<const rope_call>(call);
  void* argument = const_cast<rope_call*>(copy.release());
  if (!Edit::takes_the_stream) {
    run_on_cpu<Edit>(argument);
    return ROPE_OK;
  }
  if (cuLaunchHostFunc(call.stream, run_on_cpu<Edit>, argument) != 0) return ROPE_FAILED;
  if (Edit::waits) cuStreamSynchronize(call.stream);
  return ROPE_OK;
}

}  // namespace
}  // namespace rope::device_kernels

#include "tests/kernels/device/kernels.hpp"

std::vector<rope::Kernels> rope::exported_kernels() { return {device_kernels::kernels()}; }
