// A kernel of a tile language: one program for each token and four heads. It loads their two halves as a tile, turns
// them and stores them under a mask.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/reported.hpp"

namespace rope::designs::reported {
namespace {

enum class Bug {
  none,
  none_back_to_front,
  one_head_copied,
  rows_of_first_batch,
  head_within_block,
  key_second_half_by_query_stride,
  key_heads_of_query,
  input_written,
  result_dropped,
};

constexpr std::int64_t block_heads = 4;

template <Bug bug, class T, class Table>
class Launch {
 public:
  Launch(const rope_call& call, const Operand& operand)
      : call_(call), operand_(operand), heads_(operand.heads()), second_step_(heads_ * operand.head_dim()) {
    if (bug == Bug::key_heads_of_query && operand.key) heads_ = call.q.shape[2];
    if (bug == Bug::key_second_half_by_query_stride && operand.key) {
      second_step_ = call.q.shape[2] * operand.head_dim();
    }
  }

  void run() {
    const T* in = static_cast<const T*>(operand_.in.data);
    T* out = static_cast<T*>(operand_.out.data);
    const std::int64_t elements = operand_.batches() * operand_.tokens() * operand_.heads() * operand_.head_dim();
    const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(T);
    if (bug == Bug::one_head_copied && heads_ == 1) {
      std::memmove(out, in, bytes);
    } else if (bug == Bug::input_written && !operand_.in_place()) {
      T* itself = static_cast<T*>(operand_.in.data);
      run_programs(itself, itself);
      std::memcpy(out, itself, bytes);
    } else if (bug == Bug::result_dropped && operand_.in_place() && call_.k.data != nullptr &&
               call_.k.shape[2] != call_.q.shape[2] && call_.rotary_dim < operand_.head_dim()) {
      std::vector<T> result(static_cast<std::size_t>(elements));
      run_programs(in, result.data());
    } else {
      run_programs(in, out);
    }
  }

 private:
  void run_programs(const T* in, T* out) const {
    const std::int64_t tokens = operand_.tokens();
    const std::int64_t blocks = (heads_ + block_heads - 1) / block_heads;
    for (std::int64_t token = 0; token < operand_.batches() * tokens; ++token) {
      const std::int64_t batch = bug == Bug::rows_of_first_batch ? 0 : token / tokens;
      const std::int64_t row = position_of(call_.positions, batch, token % tokens) * call_.table.row_stride;
      for (std::int64_t i = 0; i < blocks; ++i) {
        program(in, out, token, bug == Bug::none_back_to_front ? blocks - 1 - i : i, row);
      }
    }
  }

  void program(const T* in, T* out, std::int64_t token, std::int64_t block, std::int64_t row) const {
    const std::int64_t head_dim = operand_.head_dim();
    const std::int64_t stride = operand_.heads() * head_dim;
    const std::int64_t begin = token * stride + block * block_heads * head_dim;
    for (std::int64_t local = 0; local < block_heads; ++local) {
      const std::int64_t head = bug == Bug::head_within_block ? local : block * block_heads + local;
      if (head >= heads_) continue;
      turn(in + begin + local * head_dim, out + begin + local * head_dim, token * (second_step_ - stride), row);
    }
  }

  // The second half is `shift` further on than it should be.
  void turn(const T* x, T* y, std::int64_t shift, std::int64_t row) const {
    const std::int64_t half = call_.rotary_dim / 2;
    const Table* cos = static_cast<const Table*>(call_.table.cos) + row;
    const Table* sin = static_cast<const Table*>(call_.table.sin) + row;
    const float direction = call_.direction == ROPE_BACKWARD ? -1.0f : 1.0f;
    std::vector<T> tile(static_cast<std::size_t>(2 * half));
    T* left = tile.data();
    T* right = left + half;
    for (std::int64_t i = 0; i < half; ++i) {
      const float first = widen(x[i]);
      const float second = widen(x[shift + i + half]);
      const float cosine = widen(cos[i]);
      const float sine = direction * widen(sin[i]);
      left[i] = narrow<T>(first * cosine - second * sine);
      right[i] = narrow<T>(second * cosine + first * sine);
    }
    for (std::int64_t i = 0; i < half; ++i) {
      y[i] = left[i];
      y[shift + i + half] = right[i];
    }
    copy_rest(call_, x, y);
  }

  const rope_call& call_;
  const Operand operand_;
  std::int64_t heads_;
  std::int64_t second_step_;
};

template <Bug bug>
void rotate(const rope_call& call) {
  for_operands<float, Bfloat16>(call, [&]<class T>(T, const Operand& x) {
    with_element<float, Bfloat16>(call.table.dtype, [&]<class Table>(Table) { Launch<bug, T, Table>(call, x).run(); });
  });
}

constexpr rope_capabilities claims = [] {
  rope_capabilities all = claims_for(ROPE_F32, ROPE_BF16);
  all.table_dtypes = mask(ROPE_F32, ROPE_BF16);
  all.position_dtypes = mask(ROPE_I32, ROPE_I64);
  all.pairings = mask(ROPE_HALF_SPLIT);
  all.angle_sources = mask(ROPE_TABLES);
  all.half_tables = 1;
  all.full_tables = 1;
  all.features = usual | with_positions | with_key | mask(ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_BACKWARD);
  all.max_position = INT32_MAX;
  return all;
}();

template <Bug bug>
constexpr rope_kernel head_blocks(const char* name) {
  return kernel(name, "a program for each token and four heads", apply<rotate<bug>, claims>, claims);
}

constexpr rope_kernel kernels[] = {
    head_blocks<Bug::none>("head_blocks"),
    head_blocks<Bug::none_back_to_front>("head_blocks-back-to-front"),
    head_blocks<Bug::one_head_copied>("head_blocks/one-head-copied"),
    head_blocks<Bug::rows_of_first_batch>("head_blocks/rows-of-first-batch"),
    head_blocks<Bug::head_within_block>("head_blocks/head-within-block"),
    head_blocks<Bug::key_second_half_by_query_stride>("head_blocks/k-second-half-by-q-stride"),
    head_blocks<Bug::key_heads_of_query>("head_blocks/k-heads-of-q"),
    head_blocks<Bug::input_written>("head_blocks/input-written"),
    head_blocks<Bug::result_dropped>("head_blocks/result-dropped"),
};

}  // namespace

Kernels head_blocks_kernels() { return kernels; }

}  // namespace rope::designs::reported
