// One operation of a tensor library after another, each over whole rows and into its own buffer. Table rows are
// gathered for every token. Then come x * cos, the exchanged row * sin, and their sum. Every operation of
// bf16 by bf16 is rounded; bf16 by f32 is rounded only at the end.
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
  first_half_of_table,
};

constexpr rope_capabilities make_claims() {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.out_dtypes[ROPE_BF16] = mask(ROPE_BF16);
  claims.table_dtypes = mask(ROPE_F32, ROPE_BF16);
  claims.position_dtypes = mask(ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.full_tables = 1;
  claims.features =
      mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS, ROPE_FEATURE_STRIDED,
           ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS, ROPE_FEATURE_UNEQUAL_HALVES);
  claims.max_position = 32768;
  claims.device = ROPE_CPU;
  return claims;
}
constexpr rope_capabilities claims = make_claims();

// A row of rotary_dim values for every token of every batch.
struct Factors {
  std::vector<float> cos, sin;
};

float table_value(const rope_table& table, const void* data, std::int64_t at) {
  if (table.dtype == ROPE_BF16) return widen(static_cast<const Bfloat16*>(data)[at]);
  return static_cast<const float*>(data)[at];
}

template <Bug bug>
void gather(const rope_call& call, Factors& factors) {
  const std::int64_t batches = call.q.shape[0];
  const std::int64_t tokens = call.q.shape[1];
  const std::int64_t width = call.rotary_dim;
  factors = {};
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (std::int64_t token = 0; token < tokens; ++token) {
      const std::int64_t row = position_of(call.positions, batch, token) * call.table.row_stride;
      for (std::int64_t j = 0; j < width; ++j) {
        const std::int64_t column = bug == Bug::first_half_of_table ? j % (width / 2) : j;
        factors.cos.push_back(table_value(call.table, call.table.cos, row + column));
        factors.sin.push_back(table_value(call.table, call.table.sin, row + column));
      }
    }
  }
}

// The halves exchanged, the second one negated.
void exchange(const std::vector<float>& x, std::vector<float>& result) {
  const std::size_t half = x.size() / 2;
  for (std::size_t j = 0; j < half; ++j) result[j] = -x[half + j];
  for (std::size_t j = half; j < x.size(); ++j) result[j] = x[j - half];
}

template <Bug bug, class T>
void rotate(const rope_call& call, const Operand& x, const Factors& factors) {
  const auto head_dim = static_cast<std::size_t>(x.head_dim());
  const auto rotary_dim = static_cast<std::size_t>(call.rotary_dim);
  const bool round_each = std::is_same_v<T, Bfloat16> && call.table.dtype == ROPE_BF16;
  const auto product = [&](float a, float b) { return round_each ? rounded<Bfloat16>(a * b) : a * b; };
  std::vector<float> row(rotary_dim), exchanged(rotary_dim), with_cos(rotary_dim), with_sin(rotary_dim);
  std::vector<float> whole(head_dim), whole_exchanged(head_dim);
  for (std::int64_t batch = 0; batch < x.batches(); ++batch) {
    for (std::int64_t head = 0; head < x.heads(); ++head) {
      for (std::int64_t token = 0; token < x.tokens(); ++token) {
        const T* in = head_in<T>(x, batch, token, head);
        T* out = head_out<T>(x, batch, token, head);
        const std::int64_t chosen = token;
        const std::int64_t at = (batch * x.tokens() + chosen) * call.rotary_dim;
        const float* cos = factors.cos.data() + at;
        const float* sin = factors.sin.data() + at;
        for (std::size_t j = 0; j < rotary_dim; ++j) row[j] = widen(in[j]);
        exchange(row, exchanged);
        for (std::size_t j = 0; j < rotary_dim; ++j) with_cos[j] = product(row[j], cos[j]);
        for (std::size_t j = 0; j < rotary_dim; ++j) with_sin[j] = product(exchanged[j], sin[j]);
        for (std::size_t j = 0; j < rotary_dim; ++j) out[j] = narrow<T>(with_cos[j] + with_sin[j]);
        const T* rest = in;
        std::copy(rest + rotary_dim, rest + head_dim, out + rotary_dim);
      }
    }
  }
}

template <Bug bug>
void run(const rope_call& call) {
  static thread_local Factors kept;
  Factors fresh;
  Factors& factors = fresh;
  gather<bug>(call, factors);
  with_element<float, Bfloat16>(call.q.dtype, [&]<class T>(T) {
    rotate<bug, T>(call, query(call), factors);
    if (call.k.data != nullptr) rotate<bug, T>(call, key(call), factors);
  });
}

template <Bug bug = Bug::none>
rope_kernel per_op(const char* name) {
  return kernel<run<bug>, claims>(name, "one operation after another, full-width tables");
}

}  // namespace

Kernels per_op_kernels() {
  static const rope_kernel all[] = {
      per_op("per_op"),
      per_op<Bug::first_half_of_table>("per_op/first-half-of-table"),
  };
  return all;
}

}  // namespace rope::designs
