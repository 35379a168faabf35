// How fast the built-in kernels rotate [1, 2048, 32, 128] with tables in f32, in one thread, beside memcpy of the same
// bytes. A copy and a rotation take turns, because other work on the machine slows down both. So the ratio of two
// neighbours is steadier than the ratio of two minima. Outputs are touched before: a page fault costs more than the
// rotation of its bytes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
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

struct Contender {
  std::string name;
  const rope_kernel& kernel;
  rope_pairing pairing;
};

std::vector<Contender> contenders() {
  return {{"half_split", rope::half_split_kernel(), ROPE_HALF_SPLIT},
          {"interleaved", rope::interleaved_kernel(), ROPE_INTERLEAVED},
          {"complex_half_split", rope::complex_kernel(), ROPE_HALF_SPLIT},
          {"complex_interleaved", rope::complex_kernel(), ROPE_INTERLEAVED}};
}

rope_tensor tensor(DType dtype, void* data) {
  return {
      data, static_cast<std::int32_t>(dtype), 0, {1, seq, heads, head_dim}, {elements, heads * head_dim, head_dim, 1}};
}

rope_call call_of(DType dtype, Bytes& bytes, const Tables& tables, rope_pairing pairing) {
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
  return call;
}

struct Quartiles {
  double lower = 0;
  double median = 0;
  double upper = 0;
};

Quartiles quartiles(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  return {at(0.25), at(0.5), at(0.75)};
}

struct Measured {
  std::size_t rounds = 0;
  Quartiles copy_ms;
  Quartiles ms;
  Quartiles of_copy;  // the copy's time as a share of the rotation's, round by round
};

// Of this thread: the time during which another process has the CPU does not count.
double thread_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double milliseconds(const std::function<void()>& work) {
  const double start = thread_milliseconds();
  work();
  return thread_milliseconds() - start;
}

// A round is one copy and one rotation. The first one warms up and does not count.
Measured in_turns(const std::function<void()>& copy, const std::function<void()>& rotate, double seconds) {
  constexpr std::size_t least_rounds = 5;
  std::vector<double> copies, rotations, ratios;
  copy();
  rotate();
  for (double spent = 0; spent < 1e3 * seconds || ratios.size() < least_rounds;) {
    copies.push_back(milliseconds(copy));
    rotations.push_back(milliseconds(rotate));
    ratios.push_back(copies.back() / rotations.back());
    spent += copies.back() + rotations.back();
  }
  return {ratios.size(), quartiles(copies), quartiles(rotations), quartiles(ratios)};
}

Measured measure(const Contender& contender, DType dtype, const Tables& tables, double seconds) {
  Bytes bytes(dtype);
  const rope_call call = call_of(dtype, bytes, tables, contender.pairing);
  const auto copy = [&] {
    std::memcpy(bytes.out.data(), bytes.in.data(), bytes.in.size());
    asm volatile("" ::"r"(bytes.out.data()) : "memory");  // or the compiler may drop a copy that nobody reads
  };
  const auto rotate = [&] {
    if (contender.kernel.apply(&call) != ROPE_OK) throw std::runtime_error(contender.name + " refused the call");
  };
  return in_turns(copy, rotate, seconds);
}

nlohmann::json json_of(const Quartiles& values) { return {values.lower, values.median, values.upper}; }

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"Kernels and memcpy in turns: the median of the ratios, and their quartiles"};
  double seconds = 24;
  bool as_json = false;
  app.add_option("--seconds", seconds, "of the whole run")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_flag("--json", as_json, "for rotation_bench.py; every figure is [lower quartile, median, upper quartile]");
  CLI11_PARSE(app, argc, argv);
  const std::vector<Contender> kernels = contenders();
  constexpr DType dtypes[] = {DType::f32, DType::bf16, DType::f16};
  const double share = seconds / static_cast<double>(kernels.size() * std::size(dtypes));
  const Tables tables;
  nlohmann::json all = nlohmann::json::array();
  if (!as_json) fmt::print("{:20} {:5} {:>6} {:>8} {:>8}  of memcpy (quartiles)\n", "", "", "rounds", "copy ms", "ms");
  for (const Contender& contender : kernels) {
    for (const DType dtype : dtypes) {
      const Measured m = measure(contender, dtype, tables, share);
      all.push_back({{"kernel", contender.name},
                     {"dtype", rope::name(dtype)},
                     {"rounds", m.rounds},
                     {"copy_ms", json_of(m.copy_ms)},
                     {"ms", json_of(m.ms)},
                     {"of_copy", json_of(m.of_copy)}});
      if (as_json) continue;
      fmt::print("{:20} {:5} {:6} {:8.2f} {:8.2f}  {:.2f} ({:.2f}..{:.2f})\n", contender.name, rope::name(dtype),
                 m.rounds, m.copy_ms.median, m.ms.median, m.of_copy.median, m.of_copy.lower, m.of_copy.upper);
    }
  }
  if (as_json) fmt::print("{}\n", all.dump(1));
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "rotation_bench: {}\n", error.what());
  return 1;
}
