// Training on packed batches: a list of tokens with their positions, and pairs in the outer loop. The cosines and sines
// of a pair, times the attention factor, are two columns over all tokens. The gradient has its own function.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "tests/kernels/designs/element.hpp"
#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs {
namespace {

enum class Bug {
  none,
  key_positions_of_first_batch,
};

constexpr rope_capabilities make_claims() {
  rope_capabilities claims{};
  for (const rope_dtype dtype : {ROPE_F64, ROPE_F32, ROPE_BF16}) claims.out_dtypes[dtype] = mask(dtype);
  claims.table_dtypes = mask(ROPE_F32, ROPE_F64);
  claims.position_dtypes = mask(ROPE_I32, ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.half_tables = 1;
  claims.features =
      mask(ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS, ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS,
           ROPE_FEATURE_BACKWARD, ROPE_FEATURE_ATTENTION_FACTOR, ROPE_FEATURE_OFFSET);
  claims.max_position = 65536;
  claims.device = ROPE_CPU;
  return claims;
}
constexpr rope_capabilities claims = make_claims();

struct Token {
  std::int64_t batch;
  std::int64_t token;
  std::int64_t position;
};

template <Bug bug>
std::vector<Token> list_tokens(const rope_call& call, const Operand& x) {
  std::vector<Token> tokens;
  for (std::int64_t batch = 0; batch < x.batches(); ++batch) {
    const std::int64_t row = bug == Bug::key_positions_of_first_batch && x.key ? 0 : batch;
    for (std::int64_t token = 0; token < x.tokens(); ++token) {
      tokens.push_back({batch, token, position_of(call.positions, row, token)});
    }
  }
  return tokens;
}

// W is the type of the arithmetic.
template <class W>
struct Columns {
  std::vector<W> cos, sin;
};

template <Bug bug, class W>
W table_value(const rope_table& table, const void* data, std::int64_t at) {
  if (table.dtype == ROPE_F32) return static_cast<W>(static_cast<const float*>(data)[at]);
  const double value = static_cast<const double*>(data)[at];
  return static_cast<W>(value);
}

template <Bug bug, class W>
void fill(const rope_call& call, const std::vector<Token>& tokens, std::int64_t pair, W factor, Columns<W>& columns) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const std::int64_t at = token.position * call.table.row_stride + pair;
    columns.cos[i] = table_value<bug, W>(call.table, call.table.cos, at) * factor;
    columns.sin[i] = table_value<bug, W>(call.table, call.table.sin, at) * factor;
  }
}

template <class T, class W>
void rotate_pair(const Operand& x, std::int64_t heads, const std::vector<Token>& tokens, Pair pair,
                 const Columns<W>& columns) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::int64_t head = 0; head < heads; ++head) {
      const T* in = head_in<T>(x, tokens[i].batch, tokens[i].token, head);
      T* out = head_out<T>(x, tokens[i].batch, tokens[i].token, head);
      const W first = static_cast<W>(widen(in[pair.first]));
      const W second = static_cast<W>(widen(in[pair.second]));
      out[pair.first] = narrow<T>(first * columns.cos[i] - second * columns.sin[i]);
      out[pair.second] = narrow<T>(first * columns.sin[i] + second * columns.cos[i]);
    }
  }
}

template <class T, class W>
void rotate_gradient(const Operand& x, std::int64_t heads, const std::vector<Token>& tokens, Pair pair,
                     const Columns<W>& columns) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::int64_t head = 0; head < heads; ++head) {
      const T* of_output = head_in<T>(x, tokens[i].batch, tokens[i].token, head);
      T* of_input = head_out<T>(x, tokens[i].batch, tokens[i].token, head);
      const W first = static_cast<W>(widen(of_output[pair.first]));
      const W second = static_cast<W>(widen(of_output[pair.second]));
      of_input[pair.first] = narrow<T>(first * columns.cos[i] + second * columns.sin[i]);
      of_input[pair.second] = narrow<T>(second * columns.cos[i] - first * columns.sin[i]);
    }
  }
}

template <Bug bug, class T, class W>
void rotate(const rope_call& call, const Operand& x) {
  const std::vector<Token> tokens = list_tokens<bug>(call, x);
  const bool backward = call.direction == ROPE_BACKWARD;
  auto factor = static_cast<W>(call.attention_factor);
  std::int64_t heads = x.heads();
  Columns<W> columns{std::vector<W>(tokens.size()), std::vector<W>(tokens.size())};
  for (std::int64_t p = 0; p < call.rotary_dim / 2; ++p) {
    fill<bug>(call, tokens, p, factor, columns);
    if (backward) {
      rotate_gradient<T>(x, heads, tokens, pair_at(call, p), columns);
    } else {
      rotate_pair<T>(x, heads, tokens, pair_at(call, p), columns);
    }
  }
}

template <Bug bug>
void run(const rope_call& call) {
  with_element<double, float, Bfloat16>(call.q.dtype, [&]<class T>(T) {
    constexpr bool wide = std::is_same_v<T, double>;
    using W = std::conditional_t<wide, double, float>;
    rotate<bug, T, W>(call, query(call));
    if (call.k.data != nullptr) rotate<bug, T, W>(call, key(call));
  });
}

template <Bug bug = Bug::none>
rope_kernel training(const char* name) {
  return kernel<run<bug>, claims>(name, "packed batches, pairs in the outer loop, half-width tables");
}

}  // namespace

Kernels training_kernels() {
  static const rope_kernel all[] = {
      training("training"),
      training<Bug::key_positions_of_first_batch>("training/k-first-batch-positions"),
  };
  return all;
}

}  // namespace rope::designs
