// A small engine's flat device kernel, moved to the host. It has a block for each row of batch, token and head, and a
// thread for each pair. Angles are in f32.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/reported.hpp"

namespace rope::designs::reported {
namespace {

enum class Bug {
  none,
  none_complex,
  none_pairs_outside,
  positions_across_batches,
  token_by_other_layout,
  head_as_token,
  half_head_apart,
  exponent_over_head_dim,
  exponent_integer,
  exponent_odd,
  exponent_without_two,
  first_head_alone,
  prefill_at_length,
};

struct Complex {
  float re;
  float im;

  Complex operator*(const Complex& by) const { return {re * by.re - im * by.im, re * by.im + im * by.re}; }
};

template <Bug bug>
float theta_of(const rope_call& call, int pair) {
  const int rotary_dim = call.rotary_dim;
  const int quotient = pair / rotary_dim;
  double exponent = 2.0 * pair / rotary_dim;
  if (bug == Bug::exponent_over_head_dim) exponent = 2.0 * pair / static_cast<double>(call.q.shape[3]);
  if (bug == Bug::exponent_integer) exponent = quotient;
  if (bug == Bug::exponent_odd) exponent = (2.0 * pair + 1) / rotary_dim;
  if (bug == Bug::exponent_without_two) exponent = static_cast<double>(pair) / rotary_dim;
  return static_cast<float>(std::pow(call.base, -exponent));
}

template <Bug bug>
std::int64_t position_of_row(const rope_call& call, std::int64_t row, std::int64_t heads) {
  const std::int64_t tokens = call.q.shape[1];
  std::int64_t token = row / heads % tokens;
  if (bug == Bug::positions_across_batches) token = row / heads;
  if (bug == Bug::token_by_other_layout) token = row % tokens;
  if (bug == Bug::head_as_token) token = row % heads;
  if (bug == Bug::prefill_at_length) token = tokens > 1 ? tokens : 0;
  return call.positions.offset + token;
}

template <Bug bug, class T>
class Grid {
 public:
  Grid(const rope_call& call, const Operand& operand)
      : call_(call), operand_(operand), rows_(operand.batches() * operand.tokens() * operand.heads()) {}

  void launch() {
    const int threads = call_.rotary_dim / 2;
    if (!operand_.in_place()) {
      for (std::int64_t row = 0; row < rows_; ++row) copy_what_stays(row);
    }
    if (bug == Bug::none_pairs_outside) {
      for (int thread = threads - 1; thread >= 0; --thread) {
        for (std::int64_t row = 0; row < rows_; ++row) turn(row, thread);
      }
    } else {
      for (std::int64_t row = 0; row < rows_; ++row) {
        for (int thread = 0; thread < threads && !skipped(row); ++thread) turn(row, thread);
      }
    }
  }

 private:
  bool skipped(std::int64_t row) const {
    return bug == Bug::first_head_alone && call_.pairing == ROPE_INTERLEAVED && row % operand_.heads() != 0;
  }

  void copy_what_stays(std::int64_t row) {
    if (skipped(row)) return;
    const std::int64_t begin = bug == Bug::half_head_apart ? 0 : call_.rotary_dim;
    std::memcpy(out(row) + begin, in(row) + begin, static_cast<std::size_t>(operand_.head_dim() - begin) * sizeof(T));
  }

  void turn(std::int64_t row, int thread) {
    const T* x = in(row);
    T* y = out(row);
    const auto position = static_cast<float>(position_of_row<bug>(call_, row, operand_.heads()));
    const float angle = position * theta_of<bug>(call_, thread);
    Pair at = pair_at(call_, thread);
    if (bug == Bug::half_head_apart && call_.pairing == ROPE_HALF_SPLIT) at.second = thread + operand_.head_dim() / 2;
    const float first = widen(x[at.first]);
    const float second = widen(x[at.second]);
    const float cos = std::cos(angle);
    const float sin = std::sin(angle);
    if constexpr (bug == Bug::none_complex) {
      const Complex turned = Complex{first, second} * Complex{cos, sin};
      y[at.first] = narrow<T>(turned.re);
      y[at.second] = narrow<T>(turned.im);
    } else {
      y[at.first] = narrow<T>(first * cos - second * sin);
      y[at.second] = narrow<T>(first * sin + second * cos);
    }
  }

  const T* in(std::int64_t row) const { return static_cast<const T*>(operand_.in.data) + row * operand_.head_dim(); }
  T* out(std::int64_t row) const { return static_cast<T*>(operand_.out.data) + row * operand_.head_dim(); }

  const rope_call& call_;
  const Operand operand_;
  const std::int64_t rows_;
};

template <Bug bug>
void rotate(const rope_call& call) {
  for_operands<float, Half>(call, [&]<class T>(T, const Operand& x) { Grid<bug, T>(call, x).launch(); });
}

constexpr std::int32_t head_dims[] = {32, 64, 80, 96, 128, 256};

constexpr rope_capabilities claims = [] {
  rope_capabilities all = claims_for(ROPE_F32, ROPE_F16);
  all.pairings = either_pairing;
  all.angle_sources = mask(ROPE_COMPUTED);
  all.scalings = mask(ROPE_SCALING_NONE);
  all.features = usual | with_key | mask(ROPE_FEATURE_IN_PLACE);
  all.max_position = 131072;
  all.head_dims = head_dims;
  all.head_dim_count = 6;
  return all;
}();

template <Bug bug>
constexpr rope_kernel pair_threads(const char* name) {
  return kernel(name, "a block for each row, a thread for each pair", apply<rotate<bug>, claims>, claims);
}

constexpr rope_kernel kernels[] = {
    pair_threads<Bug::none>("pair_threads"),
    pair_threads<Bug::none_complex>("pair_threads-complex"),
    pair_threads<Bug::none_pairs_outside>("pair_threads-pairs-outside"),
    pair_threads<Bug::positions_across_batches>("pair_threads/positions-across-batches"),
    pair_threads<Bug::token_by_other_layout>("pair_threads/token-by-other-layout"),
    pair_threads<Bug::head_as_token>("pair_threads/head-as-token"),
    pair_threads<Bug::half_head_apart>("pair_threads/half-head-apart"),
    pair_threads<Bug::exponent_over_head_dim>("pair_threads/exponent-over-head-dim"),
    pair_threads<Bug::exponent_integer>("pair_threads/exponent-integer"),
    pair_threads<Bug::exponent_odd>("pair_threads/exponent-odd"),
    pair_threads<Bug::exponent_without_two>("pair_threads/exponent-without-two"),
    pair_threads<Bug::first_head_alone>("pair_threads/first-head-alone"),
    pair_threads<Bug::prefill_at_length>("pair_threads/prefill-at-length"),
};

}  // namespace

Kernels pair_threads_kernels() { return kernels; }

}  // namespace rope::designs::reported
