// Tiles of tokens by columns, as in a device program for blocks. The part of a tile inside the tensor is loaded,
// rotated in local arrays and stored. If interleaved, each feature is loaded with its neighbour.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tests/kernels/styles/element.hpp"
#include "tests/kernels/styles/kernel.hpp"

namespace rope::styles {
namespace {

enum class Bug {
  none,
  offset_in_first_tile,
  backward_odd_feature_only,
  tiles_rounded_down,
  even_stored_first,
  backward_rest_zero,
  half_saturates,
  offset_twice_in_limit,
  bf16_backward_and_batches,
};

constexpr rope_capabilities make_claims() {
  rope_capabilities claims{};
  for (const rope_dtype dtype : {ROPE_F32, ROPE_F16, ROPE_BF16}) claims.out_dtypes[dtype] = mask(dtype);
  claims.table_dtypes = mask(ROPE_F32, ROPE_F16, ROPE_BF16);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.half_tables = 1;
  claims.features = mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_STRIDED, ROPE_FEATURE_BACKWARD,
                         ROPE_FEATURE_OFFSET);
  claims.max_position = 65536;
  claims.device = ROPE_CPU;
  return claims;
}
constexpr rope_capabilities claims = make_claims();

constexpr int tile_tokens = 8;
constexpr int tile_pairs = 32;
constexpr int tile_features = 2 * tile_pairs;

struct Turn {
  float cos = 1;
  float sin = 0;
};

float table_value(std::int32_t dtype, const void* data, std::int64_t at) {
  switch (dtype) {
    case ROPE_F32: return static_cast<const float*>(data)[at];
    case ROPE_F16: return widen(static_cast<const Half*>(data)[at]);
    default: return widen(static_cast<const Bfloat16*>(data)[at]);
  }
}

template <Bug bug, class T>
T stored(float value) {
  if constexpr (bug == Bug::half_saturates && std::is_same_v<T, Half>) {
    return narrow<T>(std::fmin(std::fmax(value, -65504.0f), 65504.0f));
  }
  return narrow<T>(value);
}

// The rotation of one tile's tokens in one head.
template <Bug bug, class T>
class Tile {
 public:
  Tile(const rope_call& call, bool backward, std::int64_t batch, std::int64_t head, std::int64_t first_token)
      : call_(call),
        x_(query(call)),
        backward_(backward),
        batch_(batch),
        head_(head),
        begin_(first_token),
        tokens_(std::min<std::int64_t>(tile_tokens, call.q.shape[1] - first_token)) {}

  void rotate() const {
    if (call_.pairing == ROPE_HALF_SPLIT) {
      for (std::int64_t pair = 0; pair < call_.rotary_dim / 2; pair += tile_pairs) half_split(pair);
      return;
    }
    for (std::int64_t feature = 0; feature < call_.rotary_dim; feature += tile_features) {
      if constexpr (bug == Bug::even_stored_first) {
        interleaved(feature, true, false);
        interleaved(feature, false, true);
      } else {
        interleaved(feature, true, true);
      }
    }
  }

 private:
  const T* in(int token) const { return head_in<T>(x_, batch_, begin_ + token, head_); }
  T* out(int token) const { return head_out<T>(x_, batch_, begin_ + token, head_); }

  Turn turn(int token, std::int64_t pair) const {
    const std::int64_t offset = call_.positions.offset;
    std::int64_t position = begin_ + token + offset;
    if (bug == Bug::offset_in_first_tile && begin_ > 0) position -= offset;
    if (bug == Bug::offset_twice_in_limit && position + offset >= call_.table.rows) return {};
    const std::int64_t at = position * call_.table.row_stride + pair;
    return {table_value(call_.table.dtype, call_.table.cos, at), table_value(call_.table.dtype, call_.table.sin, at)};
  }

  void half_split(std::int64_t first_pair) const {
    const std::int64_t half = call_.rotary_dim / 2;
    const std::int64_t pairs = std::min<std::int64_t>(tile_pairs, half - first_pair);
    float low[tile_tokens][tile_pairs] = {};
    float high[tile_tokens][tile_pairs] = {};
    Turn turns[tile_tokens][tile_pairs];
    for (int t = 0; t < tokens_; ++t) {
      const T* from = in(t) + first_pair;
      for (int p = 0; p < pairs; ++p) {
        low[t][p] = widen(from[p]);
        high[t][p] = widen(from[p + half]);
        turns[t][p] = turn(t, first_pair + p);
        if (backward_) turns[t][p].sin = -turns[t][p].sin;
      }
    }
    for (int t = 0; t < tokens_; ++t) {
      T* to = out(t) + first_pair;
      for (int p = 0; p < pairs; ++p) {
        to[p] = stored<bug, T>(low[t][p] * turns[t][p].cos - high[t][p] * turns[t][p].sin);
        to[p + half] = stored<bug, T>(low[t][p] * turns[t][p].sin + high[t][p] * turns[t][p].cos);
      }
    }
  }

  void interleaved(std::int64_t first_feature, bool store_even, bool store_odd) const {
    const std::int64_t features = std::min<std::int64_t>(tile_features, call_.rotary_dim - first_feature);
    float results[tile_tokens][tile_features] = {};
    for (int t = 0; t < tokens_; ++t) {
      const T* from = in(t) + first_feature;
      for (int j = 0; j < features; ++j) {
        const bool even = j % 2 == 0;
        Turn by = turn(t, (first_feature + j) / 2);
        if (backward_ && !(bug == Bug::backward_odd_feature_only && even)) by.sin = -by.sin;
        const float own = widen(from[j]) * by.cos;
        const float neighbour = widen(from[even ? j + 1 : j - 1]) * by.sin;
        results[t][j] = even ? own - neighbour : own + neighbour;
      }
    }
    for (int t = 0; t < tokens_; ++t) {
      for (int j = 0; j < features; ++j) {
        if (j % 2 == 0 ? store_even : store_odd) out(t)[first_feature + j] = stored<bug, T>(results[t][j]);
      }
    }
  }

  const rope_call& call_;
  Operand x_;
  bool backward_;
  std::int64_t batch_;
  std::int64_t head_;
  std::int64_t begin_;
  std::int64_t tokens_;
};

template <Bug bug, class T>
void copy_rest(const rope_call& call, const Operand& x) {
  if (x.in_place() || call.rotary_dim == x.head_dim()) return;
  for (std::int64_t batch = 0; batch < x.batches(); ++batch) {
    for (std::int64_t token = 0; token < x.tokens(); ++token) {
      for (std::int64_t head = 0; head < x.heads(); ++head) {
        const T* in = head_in<T>(x, batch, token, head);
        T* out = head_out<T>(x, batch, token, head);
        if (bug == Bug::backward_rest_zero && call.direction == ROPE_BACKWARD) {
          std::fill(out + call.rotary_dim, out + x.head_dim(), T{});
        } else {
          std::copy(in + call.rotary_dim, in + x.head_dim(), out + call.rotary_dim);
        }
      }
    }
  }
}

template <Bug bug, class T>
void rotate(const rope_call& call) {
  const Operand x = query(call);
  const bool lost_direction = bug == Bug::bf16_backward_and_batches && std::is_same_v<T, Bfloat16>;
  const bool backward = call.direction == ROPE_BACKWARD && !lost_direction;
  std::int64_t tiles = (x.tokens() + tile_tokens - 1) / tile_tokens;
  if (bug == Bug::tiles_rounded_down && x.tokens() > tile_tokens) tiles = x.tokens() / tile_tokens;
  for (std::int64_t head = 0; head < x.heads(); ++head) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      for (std::int64_t batch = 0; batch < x.batches(); ++batch) {
        if (bug == Bug::bf16_backward_and_batches && batch >= 2) continue;
        Tile<bug, T>(call, backward, batch, head, tile * tile_tokens).rotate();
      }
    }
  }
  copy_rest<bug, T>(call, x);
}

template <Bug bug>
void run(const rope_call& call) {
  with_element<float, Half, Bfloat16>(call.q.dtype, [&]<class T>(T) { rotate<bug, T>(call); });
}

template <Bug bug = Bug::none>
rope_kernel tiles(const char* name) {
  return kernel<run<bug>, claims>(name, "tiles of 8 tokens by 32 pairs, offset, half-width tables");
}

}  // namespace

Kernels tiles_kernels() {
  static const rope_kernel all[] = {
      tiles("tiles"),
      tiles<Bug::offset_in_first_tile>("tiles/offset-first-tile"),
      tiles<Bug::backward_odd_feature_only>("tiles/backward-odd-feature-only"),
      tiles<Bug::tiles_rounded_down>("tiles/tiles-rounded-down"),
      tiles<Bug::even_stored_first>("tiles/even-stored-first"),
      tiles<Bug::backward_rest_zero>("tiles/backward-tail-zero"),
      tiles<Bug::half_saturates>("tiles/f16-saturate"),
      tiles<Bug::offset_twice_in_limit>("tiles/row-limit-offset-twice"),
      tiles<Bug::bf16_backward_and_batches>("tiles/two-bf16-backward-and-batch"),
  };
  return all;
}

}  // namespace rope::styles
