// Tiles of tokens by columns, as in a device program for blocks. The part of a tile inside the tensor is loaded,
// rotated in local arrays and stored. If interleaved, each feature is loaded with its neighbour.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tests/kernels/designs/element.hpp"
#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs {
namespace {

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

template <class T>
T stored(float value) {
  return narrow<T>(value);
}

// The rotation of one tile's tokens in one head.
template <class T>
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
      interleaved(feature, true, true);
    }
  }

 private:
  const T* in(int token) const { return head_in<T>(x_, batch_, begin_ + token, head_); }
  T* out(int token) const { return head_out<T>(x_, batch_, begin_ + token, head_); }

  Turn turn(int token, std::int64_t pair) const {
    const std::int64_t offset = call_.positions.offset;
    std::int64_t position = begin_ + token + offset;
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
        to[p] = stored<T>(low[t][p] * turns[t][p].cos - high[t][p] * turns[t][p].sin);
        to[p + half] = stored<T>(low[t][p] * turns[t][p].sin + high[t][p] * turns[t][p].cos);
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
        if (backward_) by.sin = -by.sin;
        const float own = widen(from[j]) * by.cos;
        const float neighbour = widen(from[even ? j + 1 : j - 1]) * by.sin;
        results[t][j] = even ? own - neighbour : own + neighbour;
      }
    }
    for (int t = 0; t < tokens_; ++t) {
      for (int j = 0; j < features; ++j) {
        if (j % 2 == 0 ? store_even : store_odd) out(t)[first_feature + j] = stored<T>(results[t][j]);
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

template <class T>
void copy_rest(const rope_call& call, const Operand& x) {
  if (x.in_place() || call.rotary_dim == x.head_dim()) return;
  for (std::int64_t batch = 0; batch < x.batches(); ++batch) {
    for (std::int64_t token = 0; token < x.tokens(); ++token) {
      for (std::int64_t head = 0; head < x.heads(); ++head) {
        const T* in = head_in<T>(x, batch, token, head);
        T* out = head_out<T>(x, batch, token, head);
        std::copy(in + call.rotary_dim, in + x.head_dim(), out + call.rotary_dim);
      }
    }
  }
}

template <class T>
void rotate(const rope_call& call) {
  const Operand x = query(call);
  const bool backward = call.direction == ROPE_BACKWARD;
  std::int64_t tiles = (x.tokens() + tile_tokens - 1) / tile_tokens;
  for (std::int64_t head = 0; head < x.heads(); ++head) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      for (std::int64_t batch = 0; batch < x.batches(); ++batch) {
        Tile<T>(call, backward, batch, head, tile * tile_tokens).rotate();
      }
    }
  }
  copy_rest<T>(call, x);
}

void run(const rope_call& call) {
  with_element<float, Half, Bfloat16>(call.q.dtype, [&]<class T>(T) { rotate<T>(call); });
}

rope_kernel tiles(const char* name) {
  return kernel<run, claims>(name, "tiles of 8 tokens by 32 pairs, offset, half-width tables");
}

}  // namespace

Kernels tiles_kernels() {
  static const rope_kernel all[] = {
      tiles("tiles"),
  };
  return all;
}

}  // namespace rope::designs
