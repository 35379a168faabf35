// The cos and sin of a unit's tokens in shared memory: how threads fill the rows, and how one takes its part of them.
//
// Shared memory: rows of job.slots values in the working type, [row][token][slot]. Row 0 is cos and row 1 is sin,
// including attention factor and direction. With two_rows they are for the first features, and 2 and 3 for the second.
#pragma once

#include "impls/cuda/elements.hpp"
#include "impls/cuda/job.hpp"
#include "impls/position.hpp"
#include "impls/turn.hpp"

#ifdef __CUDACC__
#define ROPE_UNROLL _Pragma("unroll")
#else
#define ROPE_UNROLL
#endif

namespace rope::cuda {

struct Token {
  std::int64_t batch;
  std::int64_t seq;
};

struct Unit {
  Token first;  // of its tokens
  std::int64_t head;
  int chunk;
  int tokens;
};

// Returns index % n and replaces index by index / n. A 64-bit division costs a device as much as a chunk, so n == 1
// skips it.
__device__ inline std::int64_t taken_from(std::int64_t& index, std::int64_t n) {
  if (n == 1) return 0;
  const std::int64_t rest = index % n;
  index /= n;
  return rest;
}

__device__ inline Token token_at(const Job& job, std::int64_t batch, std::int64_t seq) {
  const std::int64_t length = job.call.q.shape[1];
  if (seq < length) return {batch, seq};
  return {batch + seq / length, seq % length};
}

__device__ inline Unit unit_of(const Job& job, std::int64_t index) {
  const std::int64_t stretch = taken_from(index, job.stretches);
  const std::int64_t group = taken_from(index, job.groups);
  const std::int64_t token = index * job.unit_tokens;
  const std::int64_t left = job.tokens - token;
  return {token_at(job, 0, token), group * job.unit_heads, static_cast<int>(stretch * job.unit_chunks.value()),
          static_cast<int>(left < job.unit_tokens ? left : job.unit_tokens)};
}

__device__ inline Token token_of(const Job& job, const Unit& unit, int index) {
  return token_at(job, unit.first.batch, unit.first.seq + index);
}

// The pair that slot `slot` of a unit holds. A chunk of several interleaved pairs is two runs of features, one in each
// half of the rotary features, as with half-split pairs. Each run consists of whole pairs.
template <int width>
__device__ inline int pair_of_slot(const Job& job, const Unit& unit, int slot) {
  const int at = unit.chunk * width + slot;
  if (width == 1 || job.call.pairing == ROPE_HALF_SPLIT) return at;
  const int chunk = at / width;
  const int i = at % width;
  const int pairs = job.call.rotary_dim / 2;
  return i < width / 2 ? chunk * (width / 2) + i : pairs / 2 + chunk * (width / 2) + i - width / 2;
}

template <class Work>
struct TableEntry {
  Work cos;
  Work sin;
};

template <class Work, class E>
__device__ inline Work element_of(const void* values, std::int64_t index) {
  Work result[1];
  widen<Work>(Elements<E, 1>{{static_cast<const E*>(values)[index]}}, result);
  return result[0];
}

// Both at once: scaling one before the other is requested would make a device wait for memory twice.
template <class Work>
__device__ inline TableEntry<Work> table_entry(const rope_table& table, std::int64_t index) {
  switch (table.dtype) {
    case ROPE_F64:
      return {static_cast<Work>(static_cast<const double*>(table.cos)[index]),
              static_cast<Work>(static_cast<const double*>(table.sin)[index])};
    case ROPE_F32: return {static_cast<const float*>(table.cos)[index], static_cast<const float*>(table.sin)[index]};
    case ROPE_F16: return {element_of<Work, Half>(table.cos, index), element_of<Work, Half>(table.sin, index)};
    default: return {element_of<Work, Bfloat16>(table.cos, index), element_of<Work, Bfloat16>(table.sin, index)};
  }
}

// Columns of the first and the second feature of a pair into rows 0 to 3. If the tables have no row for the position,
// they become NaN, so nothing is read outside the tables.
template <class Work, class Policy>
__device__ inline void read_tables(const Job& job, std::int64_t position, int pair, Work* rows, int row_size) {
  const rope_table& table = job.call.table;
  const bool interleaved = job.call.pairing == ROPE_INTERLEAVED;
  const int first = job.two_rows && interleaved ? 2 * pair : pair;
  const int second = interleaved ? first + 1 : first + job.call.rotary_dim / 2;
  const Work factor = static_cast<Work>(job.call.attention_factor);
  const auto read = [&](int column) -> TableEntry<Work> {
    if (position < 0 || position >= table.rows) return {static_cast<Work>(NAN), static_cast<Work>(NAN)};
    const TableEntry<Work> entry = table_entry<Work>(table, Policy::index(position * table.row_stride + column));
    if (factor == 1) return entry;
    return {entry.cos * factor, entry.sin * factor};
  };
  const bool backward = job.call.direction == ROPE_BACKWARD;  // the transpose: the features exchange their sines
  const TableEntry<Work> of_first = read(first);
  const TableEntry<Work> of_second = job.two_rows ? read(second) : of_first;
  rows[0] = of_first.cos;
  rows[row_size] = backward ? -of_second.sin : of_first.sin;
  if (!job.two_rows) return;
  rows[2 * row_size] = of_second.cos;
  rows[3 * row_size] = backward ? -of_first.sin : of_second.sin;
}

struct ThetaOfPair {
  double high;
  double low;
};

__device__ inline ThetaOfPair theta_of(const Job& job, int pair) {
  if (job.call.angle_source == ROPE_FREQUENCIES) {
    if (job.call.theta_dtype == ROPE_F32) return {static_cast<const float*>(job.call.theta)[pair], 0};
    return {static_cast<const double*>(job.call.theta)[pair], 0};
  }
  const double* theta = job.many_theta != nullptr ? job.many_theta : job.few_theta;
  return {theta[pair], theta[pair + job.call.rotary_dim / 2]};
}

template <class Work, class Policy>
__device__ inline void compute_angle(const Job& job, std::int64_t position, int pair, Work* rows, int row_size) {
  const ThetaOfPair theta = theta_of(job, pair);
  const CosSin turned = Policy::turned(static_cast<double>(position), theta.high, theta.low);
  const double sign = job.call.direction == ROPE_BACKWARD ? -1 : 1;
  rows[0] = static_cast<Work>(job.call.attention_factor * turned.cos);
  rows[row_size] = static_cast<Work>(sign * job.call.attention_factor * turned.sin);
}

template <class V, class Policy>
__device__ inline void fill_rows(const Job& job, const Unit& unit, typename V::Work* rows) {
  const int slots = static_cast<int>(job.slots.value());
  for (int i = static_cast<int>(threadIdx.x); i < unit.tokens * slots; i += static_cast<int>(blockDim.x)) {
    const int index = static_cast<int>(job.slots.quotient(static_cast<std::uint32_t>(i)));
    const int slot = i - index * slots;
    if (unit.chunk * V::width + slot >= job.rotary_chunks * V::width) continue;
    const int pair = pair_of_slot<V::width>(job, unit, slot);
    const int axis = job.call.axis == nullptr ? 0 : job.call.axis[pair];
    const Token token = token_of(job, unit, index);
    const std::int64_t position = position_of(job.call, axis, token.batch, token.seq);
    if constexpr (V::given) {
      read_tables<typename V::Work, Policy>(job, position, pair, rows + i, job.unit_tokens * slots);
    } else {
      compute_angle<typename V::Work, Policy>(job, position, pair, rows + i, job.unit_tokens * slots);
    }
  }
}

// The cos and sin that turn a pair: columns of some slots of shared memory.
template <class Work, int width>
struct Turns {
  Work cos[width];
  Work sin[width];

  __device__ void load(const Work* row, int row_size) {
    load_row(row, cos);
    load_row(row + row_size, sin);
  }

 private:
  __device__ static void load_row(const Work* row, Work (&values)[width]) {
    constexpr int step = width == 1 ? 1 : static_cast<int>(16 / sizeof(Work));
    ROPE_UNROLL
    for (int i = 0; i < width; i += step) {
      const Elements<Work, step> some = cuda::load<Work, step>(row + i);
      ROPE_UNROLL
      for (int j = 0; j < step; ++j) values[i + j] = some.at[j];
    }
  }
};

}  // namespace rope::cuda
