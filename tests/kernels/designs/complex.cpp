// Complex numbers: the table rows from the offset on become unit numbers, and all of x an array of complex f32. Each
// element is multiplied once, then the array is converted back.
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "tests/kernels/designs/element.hpp"
#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs {
namespace {

using Complex = std::complex<float>;

enum class Bug {
  none,
  stale_rows,
};

constexpr rope_capabilities make_claims() {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.out_dtypes[ROPE_BF16] = mask(ROPE_BF16);
  claims.table_dtypes = mask(ROPE_F32);
  claims.pairings = mask(ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.half_tables = 1;
  claims.features = mask(ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS, ROPE_FEATURE_OFFSET);
  claims.max_position = 16384;
  claims.device = ROPE_CPU;
  return claims;
}
constexpr rope_capabilities claims = make_claims();

// operator* of std::complex repairs NaN; a tensor library's product does not.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// A row of unit numbers for every token.
struct Units {
  std::int64_t begin = -1;
  std::int64_t tokens = -1;
  std::int64_t pairs = -1;
  std::vector<Complex> rows;
};

template <Bug bug>
void take_rows(const rope_call& call, std::int64_t begin, Units& units) {
  const std::int64_t tokens = call.q.shape[1];
  const std::int64_t pairs = call.rotary_dim / 2;
  const bool same_shape = units.begin == begin && units.tokens == tokens && units.pairs == pairs;
  if (bug == Bug::stale_rows && same_shape) return;
  units = {begin, tokens, pairs, {}};
  for (std::int64_t position = begin; position < begin + tokens; ++position) {
    const float* cos = static_cast<const float*>(call.table.cos) + position * call.table.row_stride;
    const float* sin = static_cast<const float*>(call.table.sin) + position * call.table.row_stride;
    for (std::int64_t p = 0; p < pairs; ++p) {
      units.rows.push_back(Complex(cos[p], sin[p]));
    }
  }
}

template <Bug bug, class T>
float converted(T value) {
  return widen(value);
}

template <Bug bug, class T>
void rotate(const Operand& x, const Units& units) {
  const std::int64_t pairs = units.pairs;
  const std::int64_t count = x.batches() * x.tokens() * x.heads() * pairs;
  const auto* in = static_cast<const T*>(x.in.data);
  auto* out = static_cast<T*>(x.out.data);
  const auto pair_of = [&](std::int64_t i) -> Pair {
    const std::int64_t head = i / pairs * 2 * pairs;
    const std::int64_t p = i % pairs;
    return {head + 2 * p, head + 2 * p + 1};
  };
  std::vector<Complex> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    const Pair pair = pair_of(i);
    numbers.emplace_back(converted<bug>(in[pair.first]), converted<bug>(in[pair.second]));
  }
  Complex* number = numbers.data();
  for (std::int64_t batch = 0; batch < x.batches(); ++batch) {
    for (std::int64_t token = 0; token < x.tokens(); ++token) {
      const Complex* row = units.rows.data() + token * pairs;
      for (std::int64_t head = 0; head < x.heads(); ++head) {
        for (std::int64_t p = 0; p < pairs; ++p, ++number) *number = product(*number, row[p]);
      }
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const Pair pair = pair_of(i);
    out[pair.first] = narrow<T>(numbers[static_cast<std::size_t>(i)].real());
    out[pair.second] = narrow<T>(numbers[static_cast<std::size_t>(i)].imag());
  }
}

template <Bug bug>
void run(const rope_call& call) {
  static thread_local Units kept;
  Units fresh;
  Units& units = bug == Bug::stale_rows ? kept : fresh;
  std::int64_t begin = call.positions.offset;
  with_element<float, Bfloat16>(call.q.dtype, [&]<class T>(T) {
    take_rows<bug>(call, begin, units);
    rotate<bug, T>(query(call), units);
    if (call.k.data == nullptr) return;
    rotate<bug, T>(key(call), units);
  });
}

template <Bug bug = Bug::none>
rope_kernel complex(const char* name) {
  return kernel<run<bug>, claims>(name, "a product of complex f32 numbers, rows from the offset on");
}

}  // namespace

Kernels complex_kernels() {
  static const rope_kernel all[] = {
      complex("complex"),
      complex<Bug::stale_rows>("complex/stale-rows"),
  };
  return all;
}

}  // namespace rope::designs
