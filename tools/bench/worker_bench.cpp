// The cost of isolation: a call to a kernel that does nothing, through another process and back.
#include <benchmark/benchmark.h>

#include "tools/worker/client/library_subject.hpp"
#include "tools/worker/client/program_files.hpp"

namespace rope {
namespace {

const std::filesystem::path library = std::filesystem::path(ROPECHECK_BINARY_DIR) / "idle_kernel.so";

Call call_of(std::int64_t tokens) {
  Call call;
  call.q = Tensor::contiguous(DType::f32, {1, tokens, 2, 64});
  call.q_out = Tensor::contiguous(DType::f32, {1, tokens, 2, 64});
  call.cos = Tensor::contiguous(DType::f32, {tokens, 32});
  call.sin = Tensor::contiguous(DType::f32, {tokens, 32});
  call.rotary_dim = 64;
  call.sequence_length = tokens;
  return call;
}

void expect_done(benchmark::State& state, const Reply& reply) {
  if (reply.kind != ReplyKind::done || reply.status != ROPE_OK) state.SkipWithError(reply.detail.c_str());
}

// The same layout as the call before: what lies between its tensors is there already.
void worker_same_call(benchmark::State& state) {
  const auto subject = open_library(library, "");
  Call call = call_of(state.range(0));
  for (auto _ : state) expect_done(state, subject->apply(call));
}
BENCHMARK(worker_same_call)->Arg(8)->Arg(64)->Arg(512)->Arg(4096)->UseRealTime()->Unit(benchmark::kMicrosecond);

// Another layout each time.
void worker_other_call(benchmark::State& state) {
  const auto subject = open_library(library, "");
  Call calls[] = {call_of(state.range(0)), call_of(2 * state.range(0))};
  std::size_t i = 0;
  for (auto _ : state) expect_done(state, subject->apply(calls[i++ % 2]));
}
BENCHMARK(worker_other_call)->Arg(4)->Arg(64)->UseRealTime()->Unit(benchmark::kMicrosecond);

WorkerOptions in_sandbox() {
  WorkerOptions options;
  options.sandbox = std::make_shared<sandbox::Sandbox>(sandbox::Policy{}, program_file("ropecheck_sandbox"));
  return options;
}

// Start, hello, one call, end. A fixed number: tests/kernels/hostile/run divides the CPU time by it.
constexpr int starts = 100;

void worker_start(benchmark::State& state) {
  Call call = call_of(8);
  for (auto _ : state) expect_done(state, open_library(library, "")->apply(call));
}
BENCHMARK(worker_start)->Iterations(starts)->UseRealTime()->Unit(benchmark::kMicrosecond);

void worker_start_in_sandbox(benchmark::State& state) {
  const WorkerOptions options = in_sandbox();
  Call call = call_of(8);
  for (auto _ : state) expect_done(state, open_library(library, "", options)->apply(call));
}
BENCHMARK(worker_start_in_sandbox)->Iterations(starts)->UseRealTime()->Unit(benchmark::kMicrosecond);

void worker_same_call_in_sandbox(benchmark::State& state) {
  const auto subject = open_library(library, "", in_sandbox());
  Call call = call_of(state.range(0));
  for (auto _ : state) expect_done(state, subject->apply(call));
}
BENCHMARK(worker_same_call_in_sandbox)->Arg(8)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rope
