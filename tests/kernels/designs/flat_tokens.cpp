// A serving engine's operator: it numbers tokens through all batches and turns them in the output by rows of a cos and
// sin cache. Out of place it copies them there first.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/reported.hpp"

namespace rope::designs::reported {
namespace {

enum class Bug {
  none,
  none_heads_outside,
  tokens_counted_over_heads,
  first_head_alone,
  rotary_dim_halved_each_call,
  in_place_dropped,
  partners_of_first_head,
  decode_row_of_first_call,
  vector_across_the_halves,
};

template <Bug bug, class T, class Table>
class Tokens {
 public:
  Tokens(const rope_call& call, const Operand& operand, int rotary_dim)
      : call_(call), operand_(operand), rotary_dim_(rotary_dim) {}

  void rotate() {
    const std::int64_t heads = operand_.heads();
    std::int64_t tokens = operand_.batches() * operand_.tokens();
    const std::int64_t elements = tokens * heads * operand_.head_dim();
    const T* in = static_cast<const T*>(operand_.in.data);
    out_ = static_cast<T*>(operand_.out.data);
    std::vector<T> temporary;
    if (!operand_.in_place()) {
      std::memcpy(out_, in, static_cast<std::size_t>(elements) * sizeof(T));
    } else if (bug == Bug::in_place_dropped) {
      temporary.assign(in, in + elements);
      out_ = temporary.data();
    }
    if (bug == Bug::tokens_counted_over_heads) tokens *= heads;
    if constexpr (bug == Bug::none_heads_outside) {
      for (std::int64_t h = heads - 1; h >= 0; --h) {
        for (std::int64_t t = tokens - 1; t >= 0; --t) turn(head(t, h), row_of(t));
      }
      return;
    }
    const bool packed =
        bug == Bug::partners_of_first_head && call_.pairing == ROPE_HALF_SPLIT && rotary_dim_ < operand_.head_dim();
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::int64_t row = row_of(t);
      if (packed) {
        turn_packed(t, row);
        continue;
      }
      for (std::int64_t h = 0; h < (bug == Bug::first_head_alone ? 1 : heads); ++h) turn(head(t, h), row);
    }
  }

 private:
  void turn(T* x, std::int64_t row) const {
    if (bug == Bug::vector_across_the_halves && call_.pairing == ROPE_HALF_SPLIT) return turn_vectors(x, row);
    for (int pair = 0; pair < rotary_dim_ / 2; ++pair) {
      turn_pair(x, x, pair_at(call_, pair), widen(cos(row)[pair]), widen(sin(row)[pair]));
    }
  }

  // A thread has eight features; it takes all of them to be in the half of the first one.
  void turn_vectors(T* x, std::int64_t row) const {
    const int half = rotary_dim_ / 2;
    std::vector<float> turned(static_cast<std::size_t>(rotary_dim_));
    for (int begin = 0; begin < rotary_dim_; begin += 8) {
      const int partner = begin < half ? half : -half;
      const int column = begin < half ? begin : begin - half;
      const float sign = begin < half ? -1.0f : 1.0f;
      for (int i = 0; i < std::min(8, rotary_dim_ - begin); ++i) {
        turned[static_cast<std::size_t>(begin + i)] =
            widen(x[begin + i]) * widen(cos(row)[column + i]) +
            sign * widen(x[begin + i + partner]) * widen(sin(row)[column + i]);
      }
    }
    for (int i = 0; i < rotary_dim_; ++i) x[i] = narrow<T>(turned[static_cast<std::size_t>(i)]);
  }

  // Four heads share a warp: the lanes exchange features only for the first of them.
  void turn_packed(std::int64_t token, std::int64_t row) const {
    const int half = call_.rotary_dim / 2;
    std::vector<float> exchanged(static_cast<std::size_t>(call_.rotary_dim));
    float* lanes = exchanged.data();
    for (std::int64_t h = 0; h < operand_.heads(); ++h) {
      T* x = head(token, h);
      if (h % 4 == 0) {
        for (int i = 0; i < call_.rotary_dim; ++i) lanes[i] = widen(x[i]);
      }
      for (int i = 0; i < half; ++i) {
        const float first = widen(x[i]);
        const float second = widen(x[i + half]);
        x[i] = narrow<T>(first * widen(cos(row)[i]) - lanes[i + half] * widen(sin(row)[i]));
        x[i + half] = narrow<T>(second * widen(cos(row)[i]) + lanes[i] * widen(sin(row)[i]));
      }
    }
  }

  std::int64_t row_of(std::int64_t token) const {
    const std::int64_t batch = token / operand_.tokens();
    const std::int64_t row = position_of(call_.positions, batch, token % operand_.tokens());
    if constexpr (bug == Bug::decode_row_of_first_call) {
      if (operand_.tokens() == 1) {
        using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, int, int>;
        static std::mutex guard;
        static std::map<Shape, std::int64_t> programs;
        const std::lock_guard<std::mutex> lock(guard);
        const Shape shape{batch,        operand_.batches(), operand_.heads(), operand_.head_dim(), call_.rotary_dim,
                          call_.pairing};
        return std::min(programs.try_emplace(shape, row).first->second, call_.table.rows - 1);
      }
    }
    return row;
  }

  T* head(std::int64_t token, std::int64_t h) const {
    return out_ + (token * operand_.heads() + h) * operand_.head_dim();
  }
  const Table* cos(std::int64_t row) const {
    return static_cast<const Table*>(call_.table.cos) + row * call_.table.row_stride;
  }
  const Table* sin(std::int64_t row) const {
    return static_cast<const Table*>(call_.table.sin) + row * call_.table.row_stride;
  }

  const rope_call& call_;
  const Operand operand_;
  const int rotary_dim_;
  T* out_ = nullptr;
};

// The layers of a model share one module, and each layer halves its rotary_dim.
int halved(std::int64_t head_dim, int rotary_dim) {
  static std::mutex guard;
  static std::map<std::pair<std::int64_t, int>, int> modules;
  const std::lock_guard<std::mutex> lock(guard);
  int& now = modules.try_emplace({head_dim, rotary_dim}, 2 * rotary_dim).first->second;
  now /= 2;
  return now / 2 * 2;
}

template <Bug bug>
void rotate(const rope_call& call) {
  int rotary_dim = call.rotary_dim;
  if (bug == Bug::rotary_dim_halved_each_call && call.pairing == ROPE_INTERLEAVED && rotary_dim < call.q.shape[3]) {
    rotary_dim = halved(call.q.shape[3], rotary_dim);
  }
  for_operands<float, Half, Bfloat16>(call, [&]<class T>(T, const Operand& x) {
    with_element<float, Bfloat16>(call.table.dtype,
                                  [&]<class Table>(Table) { Tokens<bug, T, Table>(call, x, rotary_dim).rotate(); });
  });
}

constexpr rope_capabilities claims = [] {
  rope_capabilities all = claims_for(ROPE_F32, ROPE_F16, ROPE_BF16);
  all.table_dtypes = mask(ROPE_F32, ROPE_BF16);
  all.position_dtypes = mask(ROPE_I64);
  all.pairings = either_pairing;
  all.angle_sources = mask(ROPE_TABLES);
  all.half_tables = 1;
  all.features = usual | with_positions | with_key | mask(ROPE_FEATURE_IN_PLACE);
  all.max_position = INT32_MAX;
  return all;
}();

template <Bug bug>
constexpr rope_kernel flat_tokens(const char* name) {
  return kernel(name, "tokens of all batches turned in the output", apply<rotate<bug>, claims>, claims);
}

constexpr rope_kernel kernels[] = {
    flat_tokens<Bug::none>("flat_tokens"),
    flat_tokens<Bug::none_heads_outside>("flat_tokens-heads-outside"),
    flat_tokens<Bug::tokens_counted_over_heads>("flat_tokens/tokens-counted-over-heads"),
    flat_tokens<Bug::first_head_alone>("flat_tokens/first-head-alone"),
    flat_tokens<Bug::rotary_dim_halved_each_call>("flat_tokens/rotary-dim-halved-each-call"),
    flat_tokens<Bug::in_place_dropped>("flat_tokens/in-place-dropped"),
    flat_tokens<Bug::partners_of_first_head>("flat_tokens/partners-of-first-head"),
    flat_tokens<Bug::decode_row_of_first_call>("flat_tokens/decode-row-of-first-call"),
    flat_tokens<Bug::vector_across_the_halves>("flat_tokens/vector-across-the-halves"),
};

}  // namespace

Kernels flat_tokens_kernels() { return kernels; }

}  // namespace rope::designs::reported
