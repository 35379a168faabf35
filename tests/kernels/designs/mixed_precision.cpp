// Mixed precision without hardware types: f16 and bf16 are unpacked and packed as integers. Each storage type has its
// own load and store; the loop is one template.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/engine.hpp"

namespace rope::designs::engines {
namespace {

constexpr std::uint32_t sign_bit = 0x80000000u;

float bf16_value(std::uint16_t h) { return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16); }

std::uint16_t bf16_bits(float f) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(f);
  if ((u & ~sign_bit) > 0x7f800000u) return static_cast<std::uint16_t>((u >> 16) | 0x40u);
  return static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

float f16_value(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t e = (h >> 10) & 31u;
  const std::uint32_t m = h & 0x3ffu;
  if (e == 31) return std::bit_cast<float>(sign | 0x7f800000u | (m << 13));
  if (e == 0) {  // m * 2^-24, exactly
    const float v = static_cast<float>(m) * 5.9604644775390625e-8f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) | sign);
  }
  return std::bit_cast<float>(sign | ((e + 112u) << 23) | (m << 13));
}

std::uint16_t f16_bits(float f) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(f);
  const std::uint16_t sign = static_cast<std::uint16_t>((u >> 16) & 0x8000u);
  std::uint32_t a = u & ~sign_bit;
  if (a > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((a >> 13) & 0x1ffu));
  if (a >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65520 and more
  if (a < 0x38800000u) {                                                    // below 2^-14: a multiple of 2^-24
    if (a < 0x33000000u) return sign;                                       // below 2^-25
    const std::uint32_t shift = 126u - (a >> 23);                           // 14 .. 24
    const std::uint32_t m = (a & 0x7fffffu) | 0x800000u;
    const std::uint32_t kept = m >> shift;
    const std::uint32_t rest = m & ((1u << shift) - 1u);
    const std::uint32_t tie = 1u << (shift - 1);
    return static_cast<std::uint16_t>(sign | (kept + (rest > tie || (rest == tie && (kept & 1u)))));
  }
  a += 0xfffu + ((a >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((a - 0x38000000u) >> 13));
}

enum class Bug {
  none,
  none_f16,
  none_f16_flushed,
  none_nan_in_rest,
};

extern const rope_kernel kernels[];  // in the order of Bug

template <Bug bug>
struct F32 {
  using bits = float;
  static float load(bits b) { return b; }
  static bits store(float f) { return f; }
};
template <Bug bug>
struct Bf16 {
  using bits = std::uint16_t;
  static float load(bits b) { return bf16_value(b); }
  static bits store(float f) { return bf16_bits(f); }
};
template <Bug bug>
struct F16 {
  using bits = std::uint16_t;
  static float load(bits b) { return f16_value(b); }
  static bits store(float f) {
    const bits h = f16_bits(f);
    if constexpr (bug == Bug::none_f16_flushed) {
      if ((h & 0x7c00u) == 0) return static_cast<bits>(h & 0x8000u);
    }
    return h;
  }
};
template <Bug bug>
struct TableF16 {
  using bits = std::uint16_t;
  static float load(bits b) { return f16_value(b); }
};

struct Step {
  const rope_call& c;
  const rope_tensor& x;
  const rope_tensor& y;
};

template <Bug bug, class In, class Out, class Tab>
void rotate(const Step& step) {
  const rope_call& c = step.c;
  const std::int64_t half = c.rotary_dim / 2;
  const std::int64_t head_dim = step.x.shape[3];
  const bool neighbours = c.pairing == ROPE_INTERLEAVED;
  float factor = static_cast<float>(c.attention_factor);
  for (std::int64_t b = 0; b < step.x.shape[0]; ++b) {
    for (std::int64_t s = 0; s < step.x.shape[1]; ++s) {
      const std::int64_t row = position_of(c.positions, b, s) * c.table.row_stride;
      const auto* cos = static_cast<const typename Tab::bits*>(c.table.cos) + row;
      const auto* sin = static_cast<const typename Tab::bits*>(c.table.sin) + row;
      for (std::int64_t h = 0; h < step.x.shape[2]; ++h) {
        const auto* from = static_cast<const typename In::bits*>(step.x.data) + b * step.x.strides[0] +
                           s * step.x.strides[1] + h * step.x.strides[2];
        auto* to = static_cast<typename Out::bits*>(step.y.data) + b * step.y.strides[0] + s * step.y.strides[1] +
                   h * step.y.strides[2];
        for (std::int64_t p = 0; p < half; ++p) {
          const std::int64_t i = neighbours ? 2 * p : p;
          const std::int64_t j = neighbours ? 2 * p + 1 : p + half;
          const float co = Tab::load(cos[p]) * factor;
          const float si = Tab::load(sin[p]) * factor;
          const float a = In::load(from[i]);
          const float d = In::load(from[j]);
          to[i] = Out::store(a * co - d * si);
          to[j] = Out::store(a * si + d * co);
        }
        if (2 * half == head_dim) continue;
        if constexpr (std::is_same_v<In, Out>) {
          if (static_cast<const void*>(from) == static_cast<const void*>(to)) continue;
          if constexpr (bug == Bug::none_nan_in_rest) {
            for (std::int64_t i = 2 * half; i < head_dim; ++i) {
              const float v = In::load(from[i]);
              to[i] = v == v ? Out::store(v) : Out::store(std::bit_cast<float>(0x7fc00000u));
            }
          } else {
            std::memcpy(to + 2 * half, from + 2 * half, static_cast<std::size_t>(head_dim - 2 * half) * sizeof(*to));
          }
        } else {
          for (std::int64_t i = 2 * half; i < head_dim; ++i) to[i] = Out::store(In::load(from[i]));
        }
      }
    }
  }
}

template <Bug bug, class In, class Out>
std::int32_t by_table(const Step& step) {
  switch (step.c.table.dtype) {
    case ROPE_F32: rotate<bug, In, Out, F32<bug>>(step); return ROPE_OK;
    case ROPE_BF16: rotate<bug, In, Out, Bf16<bug>>(step); return ROPE_OK;
    case ROPE_F16: rotate<bug, In, Out, TableF16<bug>>(step); return ROPE_OK;
    default: return ROPE_UNSUPPORTED;
  }
}
template <Bug bug, class In>
std::int32_t by_output(const Step& step) {
  switch (step.y.dtype) {
    case ROPE_F32: return by_table<bug, In, F32<bug>>(step);
    case ROPE_BF16: return by_table<bug, In, Bf16<bug>>(step);
    case ROPE_F16: return by_table<bug, In, F16<bug>>(step);
    default: return ROPE_UNSUPPORTED;
  }
}
template <Bug bug>
std::int32_t by_input(const Step& step) {
  switch (step.x.dtype) {
    case ROPE_F32: return by_output<bug, F32<bug>>(step);
    case ROPE_BF16: return by_output<bug, Bf16<bug>>(step);
    case ROPE_F16: return by_output<bug, F16<bug>>(step);
    default: return ROPE_UNSUPPORTED;
  }
}

template <Bug bug>
std::int32_t apply(const rope_call* call) {
  return if_accepted(call, kernels[static_cast<int>(bug)].claims, [call]() -> std::int32_t {
    const std::int32_t status = by_input<bug>({*call, call->q, call->q_out});
    return status == ROPE_OK && call->k.data != nullptr ? by_input<bug>({*call, call->k, call->k_out}) : status;
  });
}

constexpr std::uint32_t f32 = mask(ROPE_F32);
constexpr std::uint32_t f16 = mask(ROPE_F16);
constexpr std::uint32_t bf16 = mask(ROPE_BF16);
constexpr std::uint32_t partial = mask(ROPE_FEATURE_PARTIAL);
constexpr std::uint32_t factor = mask(ROPE_FEATURE_ATTENTION_FACTOR);
constexpr std::uint32_t robust = mask(ROPE_FEATURE_ROBUST);

struct Outputs {
  std::uint32_t of_f32;
  std::uint32_t of_f16;
  std::uint32_t of_bf16;
};

constexpr rope_capabilities claimed(const Outputs& outputs, std::uint32_t tables, std::uint32_t more) {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = outputs.of_f32;
  claims.out_dtypes[ROPE_F16] = outputs.of_f16;
  claims.out_dtypes[ROPE_BF16] = outputs.of_bf16;
  claims.table_dtypes = tables;
  claims.position_dtypes = mask(ROPE_I32, ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.half_tables = 1;
  claims.features = more | mask(ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS, ROPE_FEATURE_OFFSET,
                                ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS);
  claims.max_position = INT32_MAX;
  return claims;
}

template <Bug bug>
constexpr rope_kernel mixed(const char* name, const Outputs& outputs, std::uint32_t tables, std::uint32_t more) {
  return kernel(name, "mixed precision by integer conversions", apply<bug>, claimed(outputs, tables, more));
}

constexpr rope_kernel kernels[] = {
    mixed<Bug::none>("mixed_precision", {f32, 0, bf16 | f32}, f32 | bf16, partial | factor | robust),
    mixed<Bug::none_f16>("mixed_precision-f16", {f32 | f16, f16, 0}, f32 | f16, robust),
    mixed<Bug::none_f16_flushed>("mixed_precision-f16-flushed", {0, f16, 0}, f32 | f16, partial),
    mixed<Bug::none_nan_in_rest>("mixed_precision-nan-in-rest", {f32, 0, bf16}, f32, partial),
};

}  // namespace

Kernels mixed_precision_kernels() { return kernels; }

}  // namespace rope::designs::engines
