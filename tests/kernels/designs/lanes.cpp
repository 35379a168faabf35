// An inference runtime's kernel for CPUs: rows of tables, eight pairs at a time, and the rest under a mask.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/reported.hpp"

namespace rope::designs::reported {
namespace {

enum class Bug {
  none,
  none_signed_rows,
  none_scalar,
  tail_reads_eight,
  first_half_of_full_table,
  query_and_key_half_split,
};

constexpr std::int64_t width = 8;

struct Lanes {
  float at[width];

  static Lanes load(const float* from, std::int64_t step, std::int64_t count) {
    Lanes lanes{};
    for (std::int64_t i = 0; i < count; ++i) lanes.at[i] = from[i * step];
    return lanes;
  }
};

template <Bug bug>
class Rows {
 public:
  explicit Rows(const rope_call& call)
      : call_(call),
        interleaved_(call.pairing == ROPE_INTERLEAVED &&
                     !(bug == Bug::query_and_key_half_split && call.k.data != nullptr)),
        half_(call.rotary_dim / 2),
        step_(interleaved_ ? 2 : 1),
        second_(interleaved_ ? 1 : half_) {}

  void rotate(const Operand& operand) const {
    const float* x = static_cast<const float*>(operand.in.data);
    float* y = static_cast<float*>(operand.out.data);
    for (std::int64_t b = 0; b < operand.batches(); ++b) {
      for (std::int64_t s = 0; s < operand.tokens(); ++s) {
        const std::int64_t row = position_of(call_.positions, b, s) * call_.table.row_stride;
        const float* cos = static_cast<const float*>(call_.table.cos) + row;
        const float* sin = static_cast<const float*>(call_.table.sin) + row;
        for (std::int64_t h = 0; h < operand.heads(); ++h, x += operand.head_dim(), y += operand.head_dim()) {
          if (bug == Bug::none_signed_rows) {
            turn_by_signed_rows(x, y, cos, sin);
          } else if (bug == Bug::none_scalar) {
            turn_one_by_one(x, y, cos, sin);
          } else {
            turn_by_lanes(x, y, cos, sin);
          }
          copy_rest(call_, x, y);
        }
      }
    }
  }

 private:
  std::int64_t first_column(std::int64_t pair) const { return full() && interleaved_ ? 2 * pair : pair; }
  std::int64_t second_column(std::int64_t pair) const {
    if (!full() || (bug == Bug::first_half_of_full_table && !interleaved_)) return pair;
    return interleaved_ ? 2 * pair + 1 : pair + half_;
  }
  bool full() const { return call_.table.width == call_.rotary_dim; }

  void turn_by_lanes(const float* x, float* y, const float* cos, const float* sin) const {
    const std::int64_t table_step = full() && interleaved_ ? 2 : 1;
    for (std::int64_t p = 0; p < half_; p += width) {
      const std::int64_t count = std::min(width, half_ - p);
      const float* first = x + p * step_;
      if (bug == Bug::tail_reads_eight && count < width) read_all(first + second_);
      const Lanes a = Lanes::load(first, step_, count);
      const Lanes b = Lanes::load(first + second_, step_, count);
      const Lanes first_cos = Lanes::load(cos + first_column(p), table_step, count);
      const Lanes second_cos = Lanes::load(cos + second_column(p), table_step, count);
      const Lanes first_sin = Lanes::load(sin + first_column(p), table_step, count);
      const Lanes second_sin = Lanes::load(sin + second_column(p), table_step, count);
      for (std::int64_t i = 0; i < count; ++i) {
        y[(p + i) * step_] = a.at[i] * first_cos.at[i] - b.at[i] * first_sin.at[i];
        y[(p + i) * step_ + second_] = b.at[i] * second_cos.at[i] + a.at[i] * second_sin.at[i];
      }
    }
  }

  // volatile: otherwise a compiler drops a read whose value is not used, and with it the bug
  static void read_all(const volatile float* whole) {
    float sum = 0;
    for (std::int64_t i = 0; i < width; ++i) sum += whole[i];
    (void)sum;
  }

  void turn_by_signed_rows(const float* x, float* y, const float* cos, const float* sin) const {
    std::vector<float> turned(static_cast<std::size_t>(call_.rotary_dim));
    for (std::int64_t p = 0; p < half_; ++p) {
      const std::int64_t i = p * step_;
      const std::int64_t j = i + second_;
      const float negated = -sin[first_column(p)];
      turned[static_cast<std::size_t>(i)] = x[i] * cos[first_column(p)] + x[j] * negated;
      turned[static_cast<std::size_t>(j)] = x[j] * cos[second_column(p)] + x[i] * sin[second_column(p)];
    }
    std::copy(turned.begin(), turned.end(), y);
  }

  void turn_one_by_one(const float* x, float* y, const float* cos, const float* sin) const {
    for (std::int64_t p = half_ - 1; p >= 0; --p) {
      const float first = x[p * step_];
      const float second = x[p * step_ + second_];
      y[p * step_] = first * cos[first_column(p)] - second * sin[first_column(p)];
      y[p * step_ + second_] = second * cos[second_column(p)] + first * sin[second_column(p)];
    }
  }

  const rope_call& call_;
  const bool interleaved_;
  const std::int64_t half_;
  const std::int64_t step_;
  const std::int64_t second_;
};

template <Bug bug>
void rotate(const rope_call& call) {
  const Rows<bug> rows(call);
  for_operands<float>(call, [&](float, const Operand& x) { rows.rotate(x); });
}

constexpr rope_capabilities claims = [] {
  rope_capabilities all = claims_for(ROPE_F32);
  all.table_dtypes = mask(ROPE_F32);
  all.position_dtypes = mask(ROPE_I64);
  all.pairings = either_pairing;
  all.angle_sources = mask(ROPE_TABLES);
  all.half_tables = 1;
  all.full_tables = 1;
  all.features = usual | with_positions | with_key | mask(ROPE_FEATURE_UNEQUAL_HALVES);
  all.max_position = INT32_MAX;
  return all;
}();

template <Bug bug>
constexpr rope_kernel lanes(const char* name) {
  return kernel(name, "eight pairs of a row at a time", apply<rotate<bug>, claims>, claims);
}

constexpr rope_kernel kernels[] = {
    lanes<Bug::none>("lanes"),
    lanes<Bug::none_signed_rows>("lanes-signed-rows"),
    lanes<Bug::none_scalar>("lanes-scalar"),
    lanes<Bug::tail_reads_eight>("lanes/tail-reads-eight"),
    lanes<Bug::first_half_of_full_table>("lanes/first-half-of-full-table"),
    lanes<Bug::query_and_key_half_split>("lanes/q-and-k-half-split"),
};

}  // namespace

Kernels lanes_kernels() { return kernels; }

}  // namespace rope::designs::reported
