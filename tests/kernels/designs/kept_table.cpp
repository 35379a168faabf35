// A small engine that keeps its tables between calls: computed in double, kept in f32. A position beyond them doubles
// them; another rotary_dim, or another base after scaling, makes new ones.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs {
namespace {

enum class Bug {
  none,
  below_original,
};

constexpr std::int32_t head_dims[] = {32, 64, 80, 128};

constexpr rope_capabilities make_claims() {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.position_dtypes = mask(ROPE_I32);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_COMPUTED);
  claims.scalings = mask(ROPE_SCALING_NONE, ROPE_SCALING_NTK, ROPE_SCALING_DYNAMIC);
  claims.features =
      mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_POSITIONS, ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_KEY, ROPE_FEATURE_OFFSET);
  claims.max_position = 4095;
  claims.head_dims = head_dims;
  claims.head_dim_count = 4;
  claims.device = ROPE_CPU;
  return claims;
}
constexpr rope_capabilities claims = make_claims();

template <Bug bug>
double base_of(const rope_call& call) {
  const rope_scaling& scaling = call.scaling;
  const double dim = call.rotary_dim;
  if (dim <= 2 || scaling.kind == ROPE_SCALING_NONE) return call.base;
  double growth = scaling.factor;
  if (scaling.kind == ROPE_SCALING_DYNAMIC) {
    auto length = static_cast<double>(call.sequence_length);
    if (bug != Bug::below_original) length = std::max(length, scaling.original_max_position);
    growth = scaling.factor * length / scaling.original_max_position - (scaling.factor - 1);
    growth = std::max(growth, 1e-3);  // below the original length it may become negative
  }
  return call.base * std::pow(growth, dim / (dim - 2));
}

struct Turn {
  float cos;
  float sin;
};

template <Bug bug>
class Table {
 public:
  bool fits(int rotary_dim, double base) const { return rotary_dim_ == rotary_dim && (base_ == base); }

  void make(int rotary_dim, double base) {
    rotary_dim_ = rotary_dim;
    base_ = base;
    theta_.clear();
    turns_.clear();
    for (int p = 0; p < rotary_dim / 2; ++p) theta_.push_back(std::pow(base, -2.0 * p / rotary_dim));
    rows_ = 0;
  }

  const Turn* row(std::int64_t position) {
    while (rows_ <= position) add_rows(rows_ == 0 ? 64 : rows_);
    return turns_.data() + position * static_cast<std::int64_t>(theta_.size());
  }

 private:
  void add_rows(std::int64_t count) {
    const std::int64_t begin = rows_;
    for (std::int64_t i = 0; i < count; ++i) {
      for (const double theta : theta_) {
        const double angle = static_cast<double>(begin + i) * theta;
        Turn turn{static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
        turns_.push_back(turn);
      }
    }
    rows_ += count;
  }

  int rotary_dim_ = 0;
  double base_ = 0;
  std::int64_t rows_ = 0;
  std::vector<double> theta_;
  std::vector<Turn> turns_;
};

template <Bug bug>
Table<bug>& table_for(const rope_call& call) {
  const double base = base_of<bug>(call);
  static thread_local Table<bug> kept;
  if (!kept.fits(call.rotary_dim, base)) kept.make(call.rotary_dim, base);
  return kept;
}

void rotate_head(const rope_call& call, const float* in, float* out, const Turn* turns) {
  if (in != out) std::copy_n(in, call.q.shape[3], out);
  const std::int64_t apart = call.pairing == ROPE_HALF_SPLIT ? call.rotary_dim / 2 : 1;
  const std::int64_t step = call.pairing == ROPE_HALF_SPLIT ? 1 : 2;
  for (int left = call.rotary_dim / 2; left > 0; --left, ++turns, out += step) {
    const float first = out[0];
    const float second = out[apart];
    out[0] = first * turns->cos - second * turns->sin;
    out[apart] = second * turns->cos + first * turns->sin;
  }
}

template <Bug bug>
void run(const rope_call& call) {
  Table<bug>& table = table_for<bug>(call);
  for (std::int64_t batch = 0; batch < call.q.shape[0]; ++batch) {
    for (std::int64_t token = 0; token < call.q.shape[1]; ++token) {
      std::int64_t position = position_of(call.positions, batch, token);
      const Turn* turns = table.row(position);
      for (const Operand& x : {query(call), key(call)}) {
        if (x.in.data == nullptr) continue;
        for (std::int64_t head = 0; head < x.heads(); ++head) {
          rotate_head(call, head_in<float>(x, batch, token, head), head_out<float>(x, batch, token, head), turns);
        }
      }
    }
  }
}

template <Bug bug = Bug::none>
rope_kernel kept_table(const char* name) {
  return kernel<run<bug>, claims>(name, "tables kept between calls, by base and rotary_dim");
}

}  // namespace

Kernels kept_table_kernels() {
  static const rope_kernel all[] = {
      kept_table("kept_table"),
      kept_table<Bug::below_original>("kept_table/dynamic-below-original"),
  };
  return all;
}

}  // namespace rope::designs
