// A server whose keys are in pages: tokens one after another, each with one loop over all pairs of all heads. It always
// rotates in the output; if that is another buffer, it copies the token there first.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/kernels/designs/element.hpp"
#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs {
namespace {

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

std::int64_t position(const rope_call& call, std::int64_t batch, std::int64_t token) {
  return call.positions.data == nullptr ? token : given_position(call.positions, 0, batch, token);
}

template <class T>
void copy_token(const Operand& x, std::int64_t batch, std::int64_t token) {
  if (x.in_place()) return;
  const std::int64_t features = x.head_dim();
  for (std::int64_t head = 0; head < x.heads(); ++head) {
    std::copy_n(head_in<T>(x, batch, token, head), features, head_out<T>(x, batch, token, head));
  }
}

template <class T>
void turn_pair(T* head, Pair pair, float cos, float sin) {
  const float first = widen(head[pair.first]);
  const float second = widen(head[pair.second]);
  head[pair.first] = narrow<T>(first * cos - second * sin);
  head[pair.second] = narrow<T>(second * cos + first * sin);
}

template <class T>
void turn_token(const rope_call& call, const Operand& x, std::int64_t batch, std::int64_t token, const float* cos,
                const float* sin) {
  copy_token<T>(x, batch, token);
  const std::int64_t pairs = call.rotary_dim / 2;
  std::int64_t heads = x.heads();
  std::int64_t count = heads * pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t pair = i % pairs;
    turn_pair(head_out<T>(x, batch, token, i / pairs), pair_at(call, pair), cos[pair], sin[pair]);
  }
}

void run(const rope_call& call) {
  const rope_table& table = call.table;
  const std::int64_t tokens = call.q.shape[0] * call.q.shape[1];
  with_element<float, Half, Bfloat16>(call.q.dtype, [&]<class T>(T) {
    for (std::int64_t i = 0; i < tokens; ++i) {
      const std::int64_t batch = i / call.q.shape[1];
      const std::int64_t token = i % call.q.shape[1];
      const std::int64_t row = position(call, batch, token);
      const float* cos = static_cast<const float*>(table.cos) + row * table.row_stride;
      const float* sin = static_cast<const float*>(table.sin) + row * table.row_stride;
      turn_token<T>(call, query(call), batch, token, cos, sin);
      if (call.k.data != nullptr) turn_token<T>(call, key(call), batch, token, cos, sin);
    }
  });
}

rope_kernel paged(const char* name) {
  return kernel<run, claims>(name, "token by token in the output, f32 tables, int64 positions");
}

}  // namespace

Kernels paged_kernels() {
  static const rope_kernel all[] = {
      paged("paged"),
  };
  return all;
}

}  // namespace rope::designs
