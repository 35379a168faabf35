// How fast the built-in kernels rotate [1, 2048, 32, 128] with tables in f32, in one thread. The same run measures
// memcpy of the same bytes. Outputs are preallocated and touched: a page fault costs more than the rotation of its
// bytes.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "impls/builtin.hpp"
#include "impls/line_vector.hpp"
#include "reference/dtype.hpp"

namespace {

using rope::DType;

constexpr std::int64_t seq = 2048;
constexpr std::int64_t heads = 32;
constexpr std::int64_t head_dim = 128;
constexpr std::int64_t elements = seq * heads * head_dim;

struct Bytes {
  explicit Bytes(DType dtype)
      : in(static_cast<std::size_t>(elements) * rope::size_of(dtype)), out(in.size(), std::byte{1}) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
      rope::store(dtype, in.data() + i * rope::size_of(dtype), static_cast<double>(i % 97) / 97 - 0.5);
    }
  }
  rope::LineVector<std::byte> in;
  rope::LineVector<std::byte> out;
};

struct Tables {
  Tables() {
    for (std::int64_t m = 0; m < seq; ++m) {
      for (std::int64_t p = 0; p < head_dim / 2; ++p) {
        const double phi = static_cast<double>(m) * std::pow(10000.0, -2.0 * static_cast<double>(p) / head_dim);
        cos.push_back(static_cast<float>(std::cos(phi)));
        sin.push_back(static_cast<float>(std::sin(phi)));
      }
    }
  }
  std::vector<float> cos;
  std::vector<float> sin;
};

rope_tensor tensor(DType dtype, void* data) {
  return {
      data, static_cast<std::int32_t>(dtype), 0, {1, seq, heads, head_dim}, {elements, heads * head_dim, head_dim, 1}};
}

void report_bytes(benchmark::State& state, const Bytes& bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(2 * bytes.in.size()));
}

void copy(benchmark::State& state, DType dtype) {
  Bytes bytes(dtype);
  for (auto _ : state) {
    std::memcpy(bytes.out.data(), bytes.in.data(), bytes.in.size());
    benchmark::ClobberMemory();
  }
  report_bytes(state, bytes);
}

void turn(benchmark::State& state, const rope_kernel& kernel, rope_pairing pairing, DType dtype) {
  Bytes bytes(dtype);
  const Tables tables;
  rope_call call{};
  call.struct_size = sizeof call;
  call.abi = ROPE_KERNEL_ABI;
  call.q = tensor(dtype, bytes.in.data());
  call.q_out = tensor(dtype, bytes.out.data());
  call.positions.axes = 1;
  call.rotary_dim = head_dim;
  call.pairing = pairing;
  call.attention_factor = 1;
  call.table = {tables.cos.data(), tables.sin.data(), ROPE_F32, head_dim / 2, seq, head_dim / 2};
  for (auto _ : state) {
    if (kernel.apply(&call) != ROPE_OK) state.SkipWithError("the kernel refused the call");
    benchmark::ClobberMemory();
  }
  report_bytes(state, bytes);
}

void register_all() {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    const std::string type(rope::name(dtype));
    const auto add = [&](const std::string& name, auto function) {
      benchmark::RegisterBenchmark((name + "/" + type).c_str(), function)->Unit(benchmark::kMillisecond);
    };
    const auto add_kernel = [&](const std::string& name, const rope_kernel& kernel, rope_pairing pairing) {
      add(name, [&kernel, pairing, dtype](benchmark::State& state) { turn(state, kernel, pairing, dtype); });
    };
    add("memcpy", [dtype](benchmark::State& state) { copy(state, dtype); });
    add_kernel("half_split", rope::half_split_kernel(), ROPE_HALF_SPLIT);
    add_kernel("interleaved", rope::interleaved_kernel(), ROPE_INTERLEAVED);
    add_kernel("complex_half_split", rope::complex_kernel(), ROPE_HALF_SPLIT);
    add_kernel("complex_interleaved", rope::complex_kernel(), ROPE_INTERLEAVED);
  }
}

}  // namespace

int main(int argc, char** argv) {
  register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
