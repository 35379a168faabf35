// A serving engine's device kernel, moved to the host: one block per token. An int64 position selects the table rows of
// cos and sin; q and k are in one launch.
#include <cstdint>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/engine.hpp"

namespace rope::designs::engines {
namespace {

enum class Bug {
  none,
  none_back_to_front,
  key_head_stride_of_query,
  key_without_factor,
  half_columns_of_full_table,
};

extern const rope_kernel kernels[];  // in the order of Bug

struct Launch {
  const rope_call& call;
  int pairs;
  int head_dim;
  float factor;
};

template <class T, class Table, bool half_split>
void rotate_pair(const T* in, T* out, const Table* cos_row, const Table* sin_row, int pair, int pairs, int step,
                 float factor) {
  const int first = half_split ? pair : 2 * pair;
  const int second = half_split ? pairs + pair : 2 * pair + 1;
  const float cos = widen(cos_row[step * pair]);
  const float sin = widen(sin_row[step * pair]);
  const float x = widen(in[first]);
  const float y = widen(in[second]);
  out[first] = narrow<T>((x * cos - y * sin) * factor);
  out[second] = narrow<T>((y * cos + x * sin) * factor);
}

template <Bug bug, class T, class Table, bool half_split>
void rotate_head(const Launch& launch, const T* in, T* out, const Table* cos, const Table* sin, float factor,
                 bool with_rest) {
  const bool full = launch.call.table.width == 2 * launch.pairs;
  const int step = !half_split && full && bug != Bug::half_columns_of_full_table ? 2 : 1;
  if constexpr (bug == Bug::none_back_to_front) {
    for (int p = launch.pairs - 1; p >= 0; --p) {
      rotate_pair<T, Table, half_split>(in, out, cos, sin, p, launch.pairs, step, factor);
    }
  } else {
    for (int p = 0; p < launch.pairs; ++p) {
      rotate_pair<T, Table, half_split>(in, out, cos, sin, p, launch.pairs, step, factor);
    }
  }
  if (!with_rest || in == out) return;
  for (int j = 2 * launch.pairs; j < launch.head_dim; ++j) out[j] = in[j];
}

template <Bug bug, class T, class Table, bool half_split>
void rotate_token(const Launch& launch, std::int64_t batch, std::int64_t token) {
  const rope_call& call = launch.call;
  const Operand q = query(call);
  const Operand k = key(call);
  const std::int64_t row = position_of(call.positions, batch, token) * call.table.row_stride;
  const Table* cos = static_cast<const Table*>(call.table.cos) + row;
  const Table* sin = static_cast<const Table*>(call.table.sin) + row;
  const bool has_key = call.k.data != nullptr;
  const std::int64_t heads = q.heads();
  const std::int64_t key_heads = has_key ? k.heads() : 0;
  const auto rotate = [&](const Operand& x, std::int64_t head) {
    rotate_head<bug, T, Table, half_split>(launch, head_in<T>(x, batch, token, head),
                                           head_out<T>(x, batch, token, head), cos, sin, launch.factor, true);
  };

  if constexpr (bug == Bug::none_back_to_front) {
    for (std::int64_t head = key_heads - 1; head >= 0; --head) rotate(k, head);
    for (std::int64_t head = 0; head < heads; ++head) rotate(q, head);
    return;
  }
  for (std::int64_t head = 0; head < heads; ++head) {
    const T* in = head_in<T>(q, batch, token, head);
    rotate_head<bug, T, Table, half_split>(launch, in, head_out<T>(q, batch, token, head), cos, sin, launch.factor,
                                           true);
  }
  const std::int64_t rotated_key_heads = key_heads;
  for (std::int64_t head = 0; head < rotated_key_heads; ++head) {
    const T* in = head_in<T>(k, batch, token, head);
    if constexpr (bug == Bug::key_head_stride_of_query) {
      in = head_in<T>(k, batch, token, 0) + head * call.q.strides[2];
    }
    const float factor = bug == Bug::key_without_factor ? 1.0f : launch.factor;
    rotate_head<bug, T, Table, half_split>(launch, in, head_out<T>(k, batch, token, head), cos, sin, factor, true);
  }
}

template <Bug bug, class T, class Table>
void rotate_all(const Launch& launch) {
  for (std::int64_t batch = 0; batch < launch.call.q.shape[0]; ++batch) {
    for (std::int64_t token = 0; token < launch.call.q.shape[1]; ++token) {
      if (launch.call.pairing == ROPE_HALF_SPLIT) {
        rotate_token<bug, T, Table, true>(launch, batch, token);
      } else {
        rotate_token<bug, T, Table, false>(launch, batch, token);
      }
    }
  }
}

template <Bug bug>
std::int32_t apply(const rope_call* call) {
  return if_accepted(call, kernels[static_cast<int>(bug)].claims, [call]() -> std::int32_t {
    const Launch launch{*call, call->rotary_dim / 2, static_cast<int>(call->q.shape[3]),
                        static_cast<float>(call->attention_factor)};
    const bool f32_tables = call->table.dtype == ROPE_F32;
    switch (call->q.dtype) {
      case ROPE_F32:
        f32_tables ? rotate_all<bug, float, float>(launch) : rotate_all<bug, float, Bfloat16>(launch);
        break;
      case ROPE_F16:
        f32_tables ? rotate_all<bug, Float16, float>(launch) : rotate_all<bug, Float16, Float16>(launch);
        break;
      default:
        f32_tables ? rotate_all<bug, Bfloat16, float>(launch) : rotate_all<bug, Bfloat16, Bfloat16>(launch);
        break;
    }
    return ROPE_OK;
  });
}

constexpr std::uint32_t features =
    mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS, ROPE_FEATURE_IN_PLACE,
         ROPE_FEATURE_STRIDED, ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS);
constexpr std::uint32_t with_factor = features | mask(ROPE_FEATURE_ATTENTION_FACTOR);
constexpr std::uint32_t half_split = mask(ROPE_HALF_SPLIT);
constexpr std::uint32_t either = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);

constexpr rope_capabilities claims(std::uint32_t pairings, std::uint32_t features_claimed) {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.out_dtypes[ROPE_BF16] = mask(ROPE_BF16);
  claims.table_dtypes = mask(ROPE_F32, ROPE_BF16);
  claims.position_dtypes = mask(ROPE_I64);
  claims.pairings = pairings;
  claims.angle_sources = mask(ROPE_TABLES);
  claims.half_tables = 1;
  claims.features = features_claimed;
  claims.max_position = INT32_MAX;
  return claims;
}

constexpr rope_capabilities f16_claims() {
  rope_capabilities f16 = claims(mask(ROPE_INTERLEAVED), features);
  f16.out_dtypes[ROPE_F32] = 0;
  f16.out_dtypes[ROPE_F16] = mask(ROPE_F16);
  f16.out_dtypes[ROPE_BF16] = 0;
  f16.table_dtypes = mask(ROPE_F32, ROPE_F16);
  return f16;
}

constexpr rope_capabilities full_table_claims() {
  rope_capabilities full = claims(either, features);
  full.full_tables = 1;
  return full;
}

template <Bug bug>
constexpr rope_kernel token_blocks(const char* name, const rope_capabilities& claimed) {
  return kernel(name, "a block for a token, rows gathered by int64 positions", apply<bug>, claimed);
}

constexpr rope_kernel kernels[] = {
    token_blocks<Bug::none>("token_blocks", claims(either, with_factor)),
    token_blocks<Bug::none_back_to_front>("token_blocks-back-to-front", f16_claims()),
    token_blocks<Bug::key_head_stride_of_query>("token_blocks/k-head-stride-of-q", claims(half_split, features)),
    token_blocks<Bug::key_without_factor>("token_blocks/k-without-factor", claims(either, with_factor)),
    token_blocks<Bug::half_columns_of_full_table>("token_blocks/half-columns-of-full-table", full_table_claims()),
};

}  // namespace

Kernels token_blocks_kernels() { return kernels; }

}  // namespace rope::designs::engines
