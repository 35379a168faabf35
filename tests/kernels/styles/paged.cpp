// A server whose keys are in pages: tokens one after another, each with one loop over all pairs of all heads. It always
// rotates in the output; if that is another buffer, it copies the token there first.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/kernels/styles/element.hpp"
#include "tests/kernels/styles/kernel.hpp"

namespace rope::styles {
namespace {

enum class Bug {
  none,
  positions_as_words,
  one_token_first_position,
  key_block_once,
  cut_to_bf16,
  padding_copied,
  key_rest_left,
  sine_row_by_width,
  overwritten_and_odd_head,
};

constexpr rope_capabilities make_claims() {
  rope_capabilities claims{};
  for (const rope_dtype dtype : {ROPE_F32, ROPE_F16, ROPE_BF16}) claims.out_dtypes[dtype] = mask(dtype);
  claims.table_dtypes = mask(ROPE_F32);
  claims.position_dtypes = mask(ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.half_tables = 1;
  claims.features = mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS,
                         ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_STRIDED, ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS);
  claims.max_position = 131072;
  claims.device = ROPE_CPU;
  return claims;
}
constexpr rope_capabilities claims = make_claims();

template <Bug bug, class T>
T stored(float value) {
  if constexpr (bug == Bug::cut_to_bf16 && std::is_same_v<T, Bfloat16>) {
    return Bfloat16{static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16)};
  } else {
    return narrow<T>(value);
  }
}

template <Bug bug>
std::int64_t position(const rope_call& call, std::int64_t batch, std::int64_t token) {
  const rope_positions& positions = call.positions;
  if (positions.data == nullptr) return token;
  if (bug == Bug::one_token_first_position && call.q.shape[1] == 1) batch = 0;
  if constexpr (bug == Bug::positions_as_words) {
    const std::int64_t at = batch * positions.batch_stride + token * positions.seq_stride;
    std::int32_t word = 0;
    std::memcpy(&word, static_cast<const char*>(positions.data) + at * static_cast<std::int64_t>(sizeof word),
                sizeof word);
    return word;
  }
  return given_position(positions, 0, batch, token);
}

template <Bug bug, class T>
void copy_token(const rope_call& call, const Operand& x, std::int64_t batch, std::int64_t token) {
  if (x.in_place()) return;
  if constexpr (bug == Bug::padding_copied) {
    const std::int64_t step = x.in.strides[2];
    if (x.heads() > 0 && step == x.out.strides[2] && step * x.heads() <= x.out.strides[1]) {
      std::copy_n(head_in<T>(x, batch, token, 0), (x.heads() - 1) * step + x.head_dim(),
                  head_out<T>(x, batch, token, 0));
      return;
    }
  }
  const std::int64_t features = bug == Bug::key_rest_left && x.key ? call.rotary_dim : x.head_dim();
  for (std::int64_t head = 0; head < x.heads(); ++head) {
    std::copy_n(head_in<T>(x, batch, token, head), features, head_out<T>(x, batch, token, head));
  }
}

template <Bug bug, class T>
void turn_pair(T* head, Pair pair, bool interleaved, float cos, float sin) {
  if (bug == Bug::overwritten_and_odd_head && interleaved) {
    head[pair.first] = stored<bug, T>(widen(head[pair.first]) * cos - widen(head[pair.second]) * sin);
    head[pair.second] = stored<bug, T>(widen(head[pair.second]) * cos + widen(head[pair.first]) * sin);
    return;
  }
  const float first = widen(head[pair.first]);
  const float second = widen(head[pair.second]);
  head[pair.first] = stored<bug, T>(first * cos - second * sin);
  head[pair.second] = stored<bug, T>(second * cos + first * sin);
}

template <Bug bug, class T>
void turn_token(const rope_call& call, const Operand& x, std::int64_t batch, std::int64_t token, const float* cos,
                const float* sin) {
  copy_token<bug, T>(call, x, batch, token);
  const std::int64_t pairs = call.rotary_dim / 2;
  std::int64_t heads = x.heads();
  if (bug == Bug::overwritten_and_odd_head && !x.key && heads > 1 && heads % 2 == 1) --heads;
  std::int64_t count = heads * pairs;
  if (bug == Bug::key_block_once && x.key) count = std::min<std::int64_t>(count, 128);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t pair = i % pairs;
    turn_pair<bug>(head_out<T>(x, batch, token, i / pairs), pair_at(call, pair), call.pairing == ROPE_INTERLEAVED,
                   cos[pair], sin[pair]);
  }
}

template <Bug bug>
void run(const rope_call& call) {
  const rope_table& table = call.table;
  const std::int64_t tokens = call.q.shape[0] * call.q.shape[1];
  with_element<float, Half, Bfloat16>(call.q.dtype, [&]<class T>(T) {
    for (std::int64_t i = 0; i < tokens; ++i) {
      const std::int64_t batch = i / call.q.shape[1];
      const std::int64_t token = i % call.q.shape[1];
      const std::int64_t row = position<bug>(call, batch, token);
      const float* cos = static_cast<const float*>(table.cos) + row * table.row_stride;
      const float* sin =
          static_cast<const float*>(table.sin) + row * (bug == Bug::sine_row_by_width ? table.width : table.row_stride);
      turn_token<bug, T>(call, query(call), batch, token, cos, sin);
      if (call.k.data != nullptr) turn_token<bug, T>(call, key(call), batch, token, cos, sin);
    }
  });
}

template <Bug bug = Bug::none>
rope_kernel paged(const char* name) {
  return kernel<run<bug>, claims>(name, "token by token in the output, f32 tables, int64 positions");
}

}  // namespace

Kernels paged_kernels() {
  static const rope_kernel all[] = {
      paged("paged"),
      paged<Bug::positions_as_words>("paged/position-words"),
      paged<Bug::one_token_first_position>("paged/decode-first-position"),
      paged<Bug::key_block_once>("paged/k-block-once"),
      paged<Bug::cut_to_bf16>("paged/bf16-truncate"),
      paged<Bug::padding_copied>("paged/copy-padding"),
      paged<Bug::key_rest_left>("paged/k-tail-left"),
      paged<Bug::sine_row_by_width>("paged/sin-row-by-width"),
      paged<Bug::overwritten_and_odd_head>("paged/two-overwritten-and-odd-head"),
  };
  return all;
}

}  // namespace rope::styles
