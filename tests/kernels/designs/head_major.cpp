// An operator of a graph runtime. Only the strides tell whether heads or tokens come first; one flat loop runs over
// batches, tokens and heads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/engine.hpp"

namespace rope::designs::engines {
namespace {

struct Strides {
  std::int64_t batch;
  std::int64_t token;
  std::int64_t head;
  std::int64_t feature;
};

struct Parameters {
  std::int64_t batches;
  std::int64_t tokens;
  std::int64_t heads;
  std::int64_t head_dim;
  std::int64_t rotary_dim;
  Strides in;
  Strides out;
  bool interleaved;
  bool head_major;
};

enum class Bug {
  none,
  none_by_strides,
  first_stored_first,
};

extern const rope_kernel kernels[];  // in the order of Bug

Strides strides_of(const rope_tensor& tensor) {
  return {tensor.strides[0], tensor.strides[1], tensor.strides[2], tensor.strides[3]};
}

Parameters parameters(const rope_call& c, const rope_tensor& x, const rope_tensor& y) {
  const bool interleaved = c.pairing == ROPE_INTERLEAVED;
  const bool head_major = x.strides[2] > x.strides[1];
  Parameters r{x.shape[0],    x.shape[1],    x.shape[2],  x.shape[3], c.rotary_dim,
               strides_of(x), strides_of(y), interleaved, head_major};
  return r;
}

template <class T>
void rotate_one(const Parameters& r, const T* in, T* out, const float* cos, const float* sin, float* scratch, Bug bug) {
  const std::int64_t half = r.rotary_dim / 2;
  if (bug == Bug::none) {
    for (std::int64_t i = 0; i < r.rotary_dim; ++i) scratch[i] = static_cast<float>(in[i * r.in.feature]);
    for (std::int64_t i = 0; i < r.rotary_dim; ++i) {
      const std::int64_t column = r.interleaved ? i / 2 : i % half;
      const bool second = r.interleaved ? (i & 1) != 0 : i >= half;
      const std::int64_t other = r.interleaved ? (i ^ 1) : (second ? i - half : i + half);
      const float turned = second ? scratch[other] : -scratch[other];
      out[i * r.out.feature] = static_cast<T>(scratch[i] * cos[column] + turned * sin[column]);
    }
  } else {
    for (std::int64_t p = 0; p < half; ++p) {
      const std::int64_t i = r.interleaved ? 2 * p : p;
      const std::int64_t j = r.interleaved ? 2 * p + 1 : p + half;
      const std::int64_t column = p;
      const float c = cos[column];
      const float s = sin[column];
      if (bug == Bug::first_stored_first && r.in.feature != 1) {
        const float a = static_cast<float>(in[i * r.in.feature]);
        out[i * r.out.feature] = static_cast<T>(a * c - static_cast<float>(in[j * r.in.feature]) * s);
        const float a_again = static_cast<float>(in[i * r.in.feature]);
        out[j * r.out.feature] = static_cast<T>(static_cast<float>(in[j * r.in.feature]) * c + a_again * s);
      } else {
        const float a = static_cast<float>(in[i * r.in.feature]);
        const float b = static_cast<float>(in[j * r.in.feature]);
        out[i * r.out.feature] = static_cast<T>(a * c - b * s);
        out[j * r.out.feature] = static_cast<T>(b * c + a * s);
      }
    }
  }
  if (in != out) {
    for (std::int64_t i = r.rotary_dim; i < r.head_dim; ++i) {
      std::memcpy(out + i * r.out.feature, in + i * r.in.feature, sizeof(T));
    }
  }
}

template <class T>
void run(const rope_call& c, const rope_tensor& x, const rope_tensor& y, Bug bug) {
  const Parameters r = parameters(c, x, y);
  const std::int64_t rows = r.tokens;
  const T* in = static_cast<const T*>(x.data);
  T* out = static_cast<T*>(y.data);
  const float* cos = static_cast<const float*>(c.table.cos);
  const float* sin = static_cast<const float*>(c.table.sin);
  std::vector<float> scratch(static_cast<std::size_t>(r.rotary_dim));
  if (r.batches == 0 || rows == 0 || r.heads == 0) return;

  const std::int64_t loop = r.batches * rows * r.heads;
  for (std::int64_t ptr = 0; ptr < loop; ++ptr) {
    std::int64_t b;
    std::int64_t s;
    std::int64_t h;
    if (r.head_major && bug == Bug::none_by_strides) {
      b = ptr / rows / r.heads, h = ptr / rows % r.heads, s = ptr % rows;
    } else {
      b = ptr / r.heads / rows, s = ptr / r.heads % rows, h = ptr % r.heads;
    }
    const std::int64_t id = position_of(c.positions, b, s);
    rotate_one<T>(r, in + b * r.in.batch + s * r.in.token + h * r.in.head,
                  out + b * r.out.batch + s * r.out.token + h * r.out.head, cos + id * c.table.row_stride,
                  sin + id * c.table.row_stride, scratch.data(), bug);
  }
}

template <Bug bug>
std::int32_t apply(const rope_call* call) {
  return if_accepted(call, kernels[static_cast<int>(bug)].claims, [call] {
    call->q.dtype == ROPE_F32 ? run<float>(*call, call->q, call->q_out, bug)
                              : run<Float16>(*call, call->q, call->q_out, bug);
    return ROPE_OK;
  });
}

constexpr std::uint32_t usual = mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS,
                                     ROPE_FEATURE_OFFSET, ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_STRIDED);
constexpr std::uint32_t any_strides = usual | mask(ROPE_FEATURE_ANY_STRIDES);
constexpr std::uint32_t robust = usual | mask(ROPE_FEATURE_ROBUST);

constexpr rope_capabilities claimed(std::uint32_t features, bool f16) {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.out_dtypes[ROPE_F16] = f16 ? mask(ROPE_F16) : 0;
  claims.table_dtypes = mask(ROPE_F32);
  claims.position_dtypes = mask(ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.half_tables = 1;
  claims.features = features;
  claims.max_position = INT32_MAX;
  return claims;
}

template <Bug bug>
constexpr rope_kernel head_major(const char* name, bool f16, std::uint32_t features) {
  return kernel(name, "flat over rows in the order of the strides", apply<bug>, claimed(features, f16));
}

constexpr rope_kernel kernels[] = {
    head_major<Bug::none>("head_major", false, any_strides),
    head_major<Bug::none_by_strides>("head_major-by-strides", true, robust),
    head_major<Bug::first_stored_first>("head_major/first-stored-first", false, any_strides),
};

}  // namespace

Kernels head_major_kernels() { return kernels; }

}  // namespace rope::designs::engines
