// Forward and backward for a training framework. Each call makes a function object: its constructor resolves what it
// needs, then it runs over q and k.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/engine.hpp"

namespace rope::designs::engines {
namespace {

enum class Bug {
  none,
  none_matrix,
  backward_no_offset,
};

extern const rope_kernel kernels[];  // in the order of Bug

// Saved by the forward pass for the backward pass that follows it.
struct Saved {
  std::mutex lock;
  std::int64_t batches = -1;
  std::int64_t tokens = -1;
  std::vector<std::int64_t> positions;
};
template <Bug bug>
class Function {
 public:
  explicit Function(const rope_call& call)
      : c(call),
        half(call.rotary_dim / 2),
        back(call.direction == ROPE_BACKWARD),
        cos(static_cast<std::size_t>(half)),
        sin(cos.size()) {
    factor = static_cast<float>(c.attention_factor);
  }

  void run() {
    for (std::int64_t b = 0; b < c.q.shape[0]; ++b) {
      for (std::int64_t s = 0; s < c.q.shape[1]; ++s) {
        row(b, s);
        tensor(c.q, c.q_out, b, s, back);
        if (c.k.data) tensor(c.k, c.k_out, b, s, back);
      }
    }
  }

 private:
  std::int64_t given(std::int64_t b, std::int64_t s) const {
    const rope_positions& p = c.positions;
    if (bug == Bug::backward_no_offset && back && p.data == nullptr) return s;
    return position_of(p, b, s);
  }
  void row(std::int64_t b, std::int64_t s) {
    std::int64_t m = given(b, s);
    if (!remembered.empty()) m = remembered[static_cast<std::size_t>(b * c.q.shape[1] + s)];
    if (c.angle_source == ROPE_TABLES) {
      const std::int64_t stride = c.pairing == ROPE_INTERLEAVED && c.table.width == 2 * half ? 2 : 1;
      const float* co = static_cast<const float*>(c.table.cos) + m * c.table.row_stride;
      const float* si = static_cast<const float*>(c.table.sin) + m * c.table.row_stride;
      for (std::int64_t p = 0; p < half; ++p) {
        cos[static_cast<std::size_t>(p)] = co[p * stride];
        sin[static_cast<std::size_t>(p)] = si[p * stride];
      }
      return;
    }
    for (std::int64_t p = 0; p < half; ++p) {
      const double t = c.theta_dtype == ROPE_F64 ? static_cast<const double*>(c.theta)[p]
                                                 : static_cast<double>(static_cast<const float*>(c.theta)[p]);
      cos[static_cast<std::size_t>(p)] = static_cast<float>(std::cos(static_cast<double>(m) * t));
      sin[static_cast<std::size_t>(p)] = static_cast<float>(std::sin(static_cast<double>(m) * t));
    }
  }
  float cosine(std::int64_t pair) const { return cos[static_cast<std::size_t>(pair)]; }
  float sine(std::int64_t pair) const { return sin[static_cast<std::size_t>(pair)]; }
  template <class T>
  void head(T* x, T* y, std::int64_t head_dim, bool transposed) {
    const bool neighbours = c.pairing == ROPE_INTERLEAVED;
    const std::int64_t r = 2 * half;
    const float scale = factor;
    for (std::int64_t p = 0; p < half; ++p) {
      const std::int64_t i = neighbours ? 2 * p : p;
      const std::int64_t j = neighbours ? 2 * p + 1 : p + half;
      const float a = widen(x[i]);
      const float b = widen(x[j]);
      const float n = transposed ? -sine(p) : sine(p);
      float first = 0.0f;
      float second = 0.0f;
      if constexpr (bug == Bug::none_matrix) {
        const float m[2][2] = {{cosine(p) * scale, -n * scale}, {n * scale, cosine(p) * scale}};
        first = m[0][1] * b + m[0][0] * a;
        second = m[1][1] * b + m[1][0] * a;
      } else {
        first = (a * cosine(p) - b * n) * scale;
        second = (b * cosine(p) + a * n) * scale;
      }
      y[i] = narrow<T>(first);
      y[j] = narrow<T>(second);
    }
    if (x != y && head_dim > r) {
      std::memcpy(y + r, x + r, static_cast<std::size_t>(head_dim - r) * sizeof(T));
    }
  }
  void tensor(const rope_tensor& in, const rope_tensor& out, std::int64_t b, std::int64_t s, bool transposed) {
    for (std::int64_t h = 0; h < in.shape[2]; ++h) {
      const std::int64_t from = b * in.strides[0] + s * in.strides[1] + h * in.strides[2];
      const std::int64_t to = b * out.strides[0] + s * out.strides[1] + h * out.strides[2];
      if (in.dtype == ROPE_F32) {
        head(static_cast<float*>(in.data) + from, static_cast<float*>(out.data) + to, in.shape[3], transposed);
      } else {
        head(static_cast<Bfloat16*>(in.data) + from, static_cast<Bfloat16*>(out.data) + to, in.shape[3], transposed);
      }
    }
  }

  const rope_call& c;
  const std::int64_t half;
  const bool back;
  float factor = 1.0f;
  std::vector<float> cos;
  std::vector<float> sin;
  std::vector<std::int64_t> remembered;
};

template <Bug bug>
std::int32_t apply(const rope_call* call) {
  return if_accepted(call, kernels[static_cast<int>(bug)].claims, [call] {
    Function<bug>(*call).run();
    return ROPE_OK;
  });
}

constexpr std::uint32_t factor = mask(ROPE_FEATURE_ATTENTION_FACTOR);
constexpr std::uint32_t in_place = mask(ROPE_FEATURE_IN_PLACE);
constexpr std::uint32_t strided = mask(ROPE_FEATURE_STRIDED);

constexpr rope_capabilities f32_claims(std::uint32_t more) {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.table_dtypes = mask(ROPE_F32);
  claims.position_dtypes = mask(ROPE_I32, ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.half_tables = 1;
  claims.full_tables = 1;
  claims.features =
      more | mask(ROPE_FEATURE_BACKWARD, ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS, ROPE_FEATURE_KEY,
                  ROPE_FEATURE_GROUPED_HEADS, ROPE_FEATURE_OFFSET, ROPE_FEATURE_PARTIAL);
  claims.max_position = 1 << 18;
  return claims;
}

constexpr rope_capabilities bf16_claims(std::uint32_t more) {
  rope_capabilities claims = f32_claims(more);
  claims.out_dtypes[ROPE_BF16] = mask(ROPE_BF16);
  return claims;
}

constexpr rope_capabilities with_theta(rope_capabilities claims) {
  claims.theta_dtypes = mask(ROPE_F32, ROPE_F64);
  claims.angle_sources |= mask(ROPE_FREQUENCIES);
  return claims;
}

template <Bug bug>
constexpr rope_kernel gradients(const char* name, const rope_capabilities& claims) {
  return kernel(name, "forward and backward as a function object", apply<bug>, claims);
}

constexpr rope_kernel kernels[] = {
    gradients<Bug::none>("gradients", with_theta(bf16_claims(factor | in_place | strided))),
    gradients<Bug::none_matrix>("gradients-matrix", bf16_claims(factor | in_place)),
    gradients<Bug::backward_no_offset>("gradients/backward-no-offset", with_theta(bf16_claims(in_place))),
};

}  // namespace

Kernels gradients_kernels() { return kernels; }

}  // namespace rope::designs::engines
