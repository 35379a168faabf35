// q and k in one kernel with vectors of eight features; the rest feature by feature. Theta is computed once per call,
// with the ramp of llama3 as a straight line in theta; cosines and sines once per token.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <type_traits>

#include "tests/kernels/designs/element.hpp"
#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs {
namespace {

enum class Bug {
  none,
  tail_from_pair_zero,
  key_once_per_query_head,
};

constexpr std::int32_t head_dims[] = {64, 128, 256};
constexpr int max_pairs = 128;

constexpr rope_capabilities make_claims() {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F16] = mask(ROPE_F16);
  claims.out_dtypes[ROPE_BF16] = mask(ROPE_BF16);
  claims.position_dtypes = mask(ROPE_I32);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_COMPUTED);
  claims.scalings = mask(ROPE_SCALING_NONE, ROPE_SCALING_LLAMA3);
  claims.features = mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS,
                         ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_STRIDED, ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS);
  claims.alignment = 16;
  claims.max_position = 65536;
  claims.head_dims = head_dims;
  claims.head_dim_count = 3;
  claims.device = ROPE_CPU;
  return claims;
}
constexpr rope_capabilities claims = make_claims();

constexpr int lanes = 8;

struct Vector {
  float lane[lanes];
};

template <class T>
Vector load(const T* from) {
  T elements[lanes];
  std::memcpy(elements, from, sizeof elements);
  Vector result{};
  for (int i = 0; i < lanes; ++i) result.lane[i] = widen(elements[i]);
  return result;
}

template <class T>
void store(const Vector& vector, T* to) {
  T elements[lanes];
  for (int i = 0; i < lanes; ++i) elements[i] = narrow<T>(vector.lane[i]);
  std::memcpy(to, elements, sizeof elements);
}

struct Row {
  float cos[max_pairs];
  float sin[max_pairs];
};

template <Bug bug>
void fill_theta(const rope_call& call, float* theta) {
  const int pairs = call.rotary_dim / 2;
  const auto base = static_cast<float>(call.base);
  for (int p = 0; p < pairs; ++p) {
    theta[p] = std::pow(base, -static_cast<float>(2 * p) / static_cast<float>(call.rotary_dim));
  }
  const rope_scaling& scaling = call.scaling;
  if (scaling.kind != ROPE_SCALING_LLAMA3) return;
  const double turn = 2 * std::numbers::pi;
  const double span = scaling.high_freq_factor - scaling.low_freq_factor;
  const auto slope = static_cast<float>(scaling.original_max_position / (turn * span));
  const auto start = static_cast<float>(-1.0 / (scaling.high_freq_factor / scaling.low_freq_factor - 1.0));
  const auto slower = static_cast<float>(1.0 / scaling.factor);
  // Between equal limits the line is a step.
  const auto step = static_cast<float>(turn * scaling.low_freq_factor / scaling.original_max_position);
  for (int p = 0; p < pairs; ++p) {
    const float line = span == 0 ? theta[p] > step ? 1.0f : 0.0f : theta[p] * slope + start;
    const float kept = std::min(1.0f, std::max(0.0f, line));
    theta[p] = (1.0f - kept) * (theta[p] * slower) + kept * theta[p];
  }
}

template <Bug bug, class T>
void rotate_half_split(const T* in, T* out, int rotary_dim, const Row& row) {
  const int half = rotary_dim / 2;
  int p = 0;
  for (; p + lanes <= half; p += lanes) {
    const Vector low = load(in + p);
    const Vector high = load(in + p + half);
    Vector new_low{};
    Vector new_high{};
    for (int i = 0; i < lanes; ++i) {
      new_low.lane[i] = low.lane[i] * row.cos[p + i] - high.lane[i] * row.sin[p + i];
      new_high.lane[i] = high.lane[i] * row.cos[p + i] + low.lane[i] * row.sin[p + i];
    }
    store(new_low, out + p);
    store(new_high, out + p + half);
  }
  const int skipped = bug == Bug::tail_from_pair_zero ? p : 0;
  for (; p < half; ++p) {
    const float low = widen(in[p]);
    const float high = widen(in[p + half]);
    const float cos = row.cos[p - skipped];
    const float sin = row.sin[p - skipped];
    out[p] = narrow<T>(low * cos - high * sin);
    out[p + half] = narrow<T>(high * cos + low * sin);
  }
}

template <Bug bug, class T>
void rotate_interleaved(const T* in, T* out, int rotary_dim, const Row& row) {
  const auto column = [rotary_dim](int feature) { return feature / 2; };
  int j = 0;
  for (; j + lanes <= rotary_dim; j += lanes) {
    const Vector x = load(in + j);
    Vector y{};
    for (int i = 0; i < lanes; ++i) {
      const float partner = i % 2 == 0 ? -x.lane[i + 1] : x.lane[i - 1];
      y.lane[i] = x.lane[i] * row.cos[column(j + i)] + partner * row.sin[column(j + i)];
    }
    store(y, out + j);
  }
  for (; j < rotary_dim; j += 2) {
    const float even = widen(in[j]);
    const float odd = widen(in[j + 1]);
    out[j] = narrow<T>(even * row.cos[column(j)] - odd * row.sin[column(j)]);
    out[j + 1] = narrow<T>(odd * row.cos[column(j + 1)] + even * row.sin[column(j + 1)]);
  }
}

template <Bug bug, class T>
void rotate_head(const rope_call& call, const Operand& x, std::int64_t batch, std::int64_t token, std::int64_t head,
                 const Row& row) {
  const T* in = head_in<T>(x, batch, token, head);
  T* out = head_out<T>(x, batch, token, head);
  if (call.pairing == ROPE_HALF_SPLIT) {
    rotate_half_split<bug>(in, out, call.rotary_dim, row);
  } else {
    rotate_interleaved<bug>(in, out, call.rotary_dim, row);
  }
  if (in == out || call.rotary_dim == x.head_dim()) return;
  int j = call.rotary_dim;
  for (; j % lanes != 0; ++j) out[j] = in[j];
  for (; j < x.head_dim(); j += lanes) std::memcpy(out + j, in + j, lanes * sizeof(T));
}

template <Bug bug, class T>
float position(const rope_call& call, std::int64_t batch, std::int64_t token) {
  auto position = static_cast<std::int32_t>(position_of(call.positions, batch, token));
  return static_cast<float>(position);
}

template <Bug bug, class T>
void rotate(const rope_call& call) {
  const std::int64_t heads = call.q.shape[2];
  const std::int64_t key_heads = call.k.data == nullptr ? 0 : call.k.shape[2];
  float theta[max_pairs] = {};
  fill_theta<bug>(call, theta);
  Row row{};
  for (std::int64_t token = 0; token < call.q.shape[1]; ++token) {
    for (std::int64_t batch = 0; batch < call.q.shape[0]; ++batch) {
      const float at = position<bug, T>(call, batch, token);
      for (int p = 0; p < call.rotary_dim / 2; ++p) {
        const float angle = at * theta[p];
        row.cos[p] = std::cos(angle);
        row.sin[p] = std::sin(angle);
      }
      for (std::int64_t head = 0; head < heads; ++head) {
        rotate_head<bug, T>(call, query(call), batch, token, head, row);
      }
      if (bug == Bug::key_once_per_query_head && key_heads > 0 && heads >= key_heads) {
        const std::int64_t group = heads / key_heads;
        for (std::int64_t head = 0; head < heads; ++head) {
          rotate_head<bug, T>(call, key(call), batch, token, std::min(head / group, key_heads - 1), row);
        }
        continue;
      }
      for (std::int64_t head = 0; head < key_heads; ++head) {
        rotate_head<bug, T>(call, key(call), batch, token, head, row);
      }
    }
  }
}

template <Bug bug>
void run(const rope_call& call) {
  with_element<Half, Bfloat16>(call.q.dtype, [&]<class T>(T) { rotate<bug, T>(call); });
}

template <Bug bug = Bug::none>
rope_kernel vectors(const char* name) {
  return kernel<run<bug>, claims>(name, "q and k through vectors of eight, angles computed");
}

}  // namespace

Kernels vectors_kernels() {
  static const rope_kernel all[] = {
      vectors("vectors"),
      vectors<Bug::tail_from_pair_zero>("vectors/tail-frequency"),
      vectors<Bug::key_once_per_query_head>("vectors/k-once-per-q-head"),
  };
  return all;
}

}  // namespace rope::designs
