// The cost of correctly rounded angle tables, one thread, beside MPFR and glibc in the same run. `ns_per_pair` is the
// time of one cosine and one sine. angle_table_bench.py adds torch and numpy.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "reference/angle_table.hpp"
#include "reference/scaling/setting.hpp"

namespace {

using rope::AngleTable;
using rope::Real;

constexpr std::int64_t positions = 1 << 20;
constexpr int rotary_dim = 128;
constexpr std::int64_t pairs = rotary_dim / 2;

template <class T>
struct Buffer {
  explicit Buffer(std::int64_t rows) : cos(static_cast<std::size_t>(rows * pairs)), sin(cos.size()) {}
  std::vector<T> cos, sin;

  void fill(AngleTable& table, std::int64_t first, std::int64_t rows) {
    table.fill(first, rows, std::span<T>(cos), std::span<T>(sin));
    benchmark::DoNotOptimize(cos.data());
    benchmark::ClobberMemory();
  }
};

// total: pairs computed over all iterations.
void report_pairs(benchmark::State& state, double total) {
  state.counters["ns_per_pair"] =
      benchmark::Counter(total * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Rows are recomputed into one block that stays in cache, as in the oracle.
template <class T>
void table_by_blocks(benchmark::State& state) {
  constexpr std::int64_t block = 256;
  AngleTable table(rope::scaling::unscaled(Real(1e4), rotary_dim));
  Buffer<T> buffer(block);
  for (auto _ : state) {
    for (std::int64_t first = 0; first < positions; first += block) buffer.fill(table, first, block);
  }
  const auto runs = static_cast<double>(state.iterations());
  report_pairs(state, runs * static_cast<double>(positions * pairs));
  state.counters["to_double_double"] = static_cast<double>(table.escalations().to_double_double) / runs;
  state.counters["to_mpfr"] = static_cast<double>(table.escalations().to_mpfr) / runs;
}

// The whole table, in memory that was touched before.
template <class T>
void table_whole(benchmark::State& state) {
  AngleTable table(rope::scaling::unscaled(Real(1e4), rotary_dim));
  Buffer<T> buffer(positions);
  for (auto _ : state) buffer.fill(table, 0, positions);
  report_pairs(state, static_cast<double>(state.iterations()) * static_cast<double>(positions * pairs));
}

constexpr std::int64_t few = 4;  // positions in the published notebook, at head_dim 128 and base 10000

void few_warm(benchmark::State& state) {
  AngleTable table(rope::scaling::unscaled(Real(1e4), rotary_dim));
  Buffer<float> buffer(few);
  for (auto _ : state) buffer.fill(table, 0, few);
}

// From nothing: frequencies, table, rows, and freeing them all.
void few_cold(benchmark::State& state) {
  Buffer<float> buffer(few);
  for (auto _ : state) {
    AngleTable table(rope::embedded_frequencies(1e4, rotary_dim));
    buffer.fill(table, 0, few);
  }
}

// The same for a plan that is not embedded: its frequencies and seeds are computed first.
void few_cold_other_base(benchmark::State& state) {
  Buffer<float> buffer(few);
  for (auto _ : state) {
    AngleTable table(rope::scaling::unscaled(Real(5e5), rotary_dim));
    buffer.fill(table, 0, few);
  }
}

// Also correctly rounded: mpfr_sin_cos at 53 bits of the 256-bit angle.
void mpfr(benchmark::State& state) {
  const std::vector<Real> theta = rope::scaling::unscaled(Real(1e4), rotary_dim);
  constexpr std::int64_t rows = 16;
  mpfr_t cos, sin;
  mpfr_inits2(53, cos, sin, nullptr);
  std::int64_t first = 0;
  for (auto _ : state) {
    first = (first + 40009) % positions;
    for (std::int64_t m = first; m < first + rows; ++m) {
      for (const Real& value : theta) {
        const Real phi = value * Real(m);
        mpfr_sin_cos(sin, cos, phi.get(), MPFR_RNDN);
        benchmark::DoNotOptimize(mpfr_get_d(cos, MPFR_RNDN) + mpfr_get_d(sin, MPFR_RNDN));
      }
    }
  }
  mpfr_clears(cos, sin, nullptr);
  report_pairs(state, static_cast<double>(state.iterations() * rows * pairs));
}

// Not correctly rounded: the angle is rounded before it is reduced.
void glibc_sincos(benchmark::State& state) {
  std::vector<double> theta;
  for (const Real& value : rope::scaling::unscaled(Real(1e4), rotary_dim)) theta.push_back(value.to_double());
  constexpr std::int64_t rows = 1024;
  Buffer<double> buffer(1);
  std::int64_t first = 0;
  for (auto _ : state) {
    first = (first + 40009) % positions;
    for (std::int64_t m = first; m < first + rows; ++m) {
      for (std::size_t p = 0; p < theta.size(); ++p) {
        const double phi = static_cast<double>(m) * theta[p];
        buffer.cos[p] = std::cos(phi);
        buffer.sin[p] = std::sin(phi);
      }
      benchmark::ClobberMemory();
    }
  }
  report_pairs(state, static_cast<double>(state.iterations() * rows * pairs));
}

BENCHMARK(table_by_blocks<float>)->Unit(benchmark::kMillisecond);
BENCHMARK(table_by_blocks<double>)->Unit(benchmark::kMillisecond);
BENCHMARK(table_whole<float>)->Unit(benchmark::kMillisecond);
BENCHMARK(table_whole<double>)->Unit(benchmark::kMillisecond);
BENCHMARK(glibc_sincos)->Unit(benchmark::kMillisecond);
BENCHMARK(mpfr)->Unit(benchmark::kMillisecond);
BENCHMARK(few_warm);
BENCHMARK(few_cold);
BENCHMARK(few_cold_other_base);

}  // namespace

BENCHMARK_MAIN();
