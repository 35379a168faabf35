// The rotation kernel: one source. nvcc compiles it for devices, any C++ compiler compiles it through grid_shim.hpp.
//
// A block takes one unit after the other (job.hpp). Each thread has one chunk of one token of the unit, in every n-th
// head. All of these heads have the same cos and sin. The thread first requests the elements of its first heads. Then
// it brings its part of cos and sin of the unit's tokens into shared memory. When all threads have done so, it turns
// head after head.
//
// Shared memory: rows of job.slots values in the working type, [row][token][slot]. Row 0 is cos and row 1 is sin,
// including attention factor and direction. With two_rows they are for the first features, and 2 and 3 for the second.
#pragma once

#include "impls/cuda/elements.hpp"
#include "impls/cuda/job.hpp"
#include "impls/position.hpp"
#include "impls/turn.hpp"

#ifdef __CUDACC__
#define ROPE_SHARED_MEMORY(name) extern __shared__ __align__(16) unsigned char name[]
#define ROPE_UNROLL _Pragma("unroll")
#else
#define ROPE_UNROLL
#endif

namespace rope::cuda {

// The places where a wrong kernel of tests/kernels/mutants/ differs. A kernel is instantiated with this or a class
// derived from it.
struct AsIntended {
  __device__ static std::int64_t first_unit() { return blockIdx.x; }
  __device__ static std::int64_t unit_step() { return gridDim.x; }
  __device__ static std::int64_t index(std::int64_t element) { return element; }
  __device__ static int heads_of_unit(int heads, int /*of a step*/) { return heads; }
  __device__ static void rows_are_filled(bool /*this thread has a head*/) { __syncthreads(); }
  __device__ static void rows_are_used() { __syncthreads(); }
  __device__ static CosSin turned(double position, double theta, double low) { return turn(position, theta, low); }
  template <class In, int width>
  __device__ static In partner(const Job&, int /*pair*/, In /*first*/, In second) {
    return second;
  }
};

// The instance of the kernel that a call asks for.
template <class InType, class OutType, class WorkType, int pairs_of_a_chunk, bool tables>
struct Variant {
  using In = InType;
  using Out = OutType;
  using Work = WorkType;
  static constexpr int width = pairs_of_a_chunk;
  static constexpr bool given = tables;
};

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

template <class Work, class E>
__device__ inline Work element_of(const void* values, std::int64_t index) {
  Work result[1];
  widen<Work>(Elements<E, 1>{{static_cast<const E*>(values)[index]}}, result);
  return result[0];
}

template <class Work>
__device__ inline Work table_value(const rope_table& table, const void* values, std::int64_t index) {
  switch (table.dtype) {
    case ROPE_F64: return static_cast<Work>(static_cast<const double*>(values)[index]);
    case ROPE_F32: return static_cast<const float*>(values)[index];
    case ROPE_F16: return element_of<Work, Half>(values, index);
    default: return element_of<Work, Bfloat16>(values, index);
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
  const bool there = position >= 0 && position < table.rows;
  const Work factor = static_cast<Work>(job.call.attention_factor);
  const auto read = [&](const void* values, int column) {
    if (!there) return static_cast<Work>(NAN);
    const Work value = table_value<Work>(table, values, Policy::index(position * table.row_stride + column));
    return factor == 1 ? value : value * factor;
  };
  const bool backward = job.call.direction == ROPE_BACKWARD;  // the transpose: the features exchange their sines
  const Work sin_first = read(table.sin, first);
  rows[0] = read(table.cos, first);
  if (!job.two_rows) {
    rows[row_size] = backward ? -sin_first : sin_first;
    return;
  }
  const Work sin_second = read(table.sin, second);
  rows[row_size] = backward ? -sin_second : sin_first;
  rows[2 * row_size] = read(table.cos, second);
  rows[3 * row_size] = backward ? -sin_first : sin_second;
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

constexpr int in_flight = 3;  // heads that a thread requests before it turns the first

// What a thread does at one place of a unit: one chunk of one token, in some of the heads.
template <class V, class Policy>
class Share {
  using In = typename V::In;
  using Out = typename V::Out;
  using Work = typename V::Work;
  static constexpr int width = V::width;

 public:
  // A thread has place threadIdx.x, and later ones if a unit has more places than the block has threads.
  __device__ Share(const Job& job, const Unit& unit, std::uint32_t place) {
    const std::uint32_t lane = job.columns.quotient(place);
    const std::uint32_t column = place - lane * job.columns.value();
    const auto index = static_cast<int>(job.unit_chunks.quotient(column));
    const int in_unit = static_cast<int>(column) - index * static_cast<int>(job.unit_chunks.value());
    const int chunk = unit.chunk + in_unit;
    if (static_cast<int>(lane) >= job.lanes || index >= unit.tokens || chunk >= job.chunks) return;

    const std::int64_t left = job.heads - unit.head;
    const auto heads = static_cast<int>(left < job.unit_heads ? left : job.unit_heads);
    head_ = unit.head + lane;
    end_ = unit.head + Policy::heads_of_unit(heads, job.lanes);
    slot_ = index * static_cast<int>(job.slots.value()) + in_unit * width;
    turns_ = chunk < job.rotary_chunks;
    at_ = features(job, chunk);
    const Token token = token_of(job, unit, index);
    x_ = Row<const In>(job.call.q, job.call.k, token);
    y_ = Row<Out>(job.call.q_out, job.call.k_out, token);
  }

  __device__ bool has_head() const { return head_ < end_; }

  // Requests the elements of its next heads.
  __device__ void load(const Job& job) {
    ROPE_UNROLL
    for (int i = 0; i < in_flight; ++i) {
      const std::int64_t head = head_of(job, i);
      if (head >= end_) continue;
      const auto from = [&](int feature) {
        return cuda::load<In, width>(x_.at(job.call.q, job.call.k, head, feature));
      };
      held_[i][0] = from(at_.first);
      if (at_.second >= 0) held_[i][1] = from(at_.second);
      if constexpr (width == 1) {
        In& second = held_[i][1].at[0];
        if (turns_) second = Policy::template partner<In, width>(job, at_.chunk, held_[i][0].at[0], second);
      }
    }
  }

  // Loads the cos and sin of its chunk, the same in every head; the rows must be filled.
  __device__ void load_turns(const Job& job, const Work* rows) {
    if (has_head() && turns_) turns_by_.load(rows + slot_, row_size(job));
  }

  // Finishes the heads that load() requested.
  __device__ void turn_and_store(const Job& job, const Work* rows) {
    ROPE_UNROLL
    for (int i = 0; i < in_flight; ++i) {
      const std::int64_t head = head_of(job, i);
      if (head >= end_) continue;
      Elements<Out, width> result[2];
      if (!turns_) {
        pass(held_[i], result);
      } else if (job.two_rows) {
        Turns<Work, width> second;
        second.load(rows + slot_ + 2 * row_size(job), row_size(job));
        turn(job, held_[i], second, result);
      } else {
        turn(job, held_[i], turns_by_, result);
      }
      const auto to = [&](int feature) { return y_.at(job.call.q_out, job.call.k_out, head, feature); };
      cuda::store(result[0], to(at_.first));
      if (at_.second >= 0) cuda::store(result[1], to(at_.second));
    }
    head_ = head_of(job, in_flight);
  }

 private:
  struct Features {
    int chunk;
    int first;
    int second;  // -1: none
  };

  // The token in any head of q or of k. Each value is selected by itself. A device reads the kernel's parameter like
  // constants; selecting a tensor by its address would turn the parameter into memory that it loads from.
  template <class E>
  class Row {
   public:
    Row() = default;
    __device__ Row(const rope_tensor& q, const rope_tensor& k, const Token& token)
        : of_q_(token.batch * q.strides[0] + token.seq * q.strides[1]),
          of_k_(token.batch * k.strides[0] + token.seq * k.strides[1]) {}
    __device__ E* at(const rope_tensor& q, const rope_tensor& k, std::int64_t head, int feature) const {
      const bool key = head >= q.shape[2];
      const std::int64_t first = key ? of_k_ + (head - q.shape[2]) * k.strides[2] : of_q_ + head * q.strides[2];
      const std::int64_t stride = key ? k.strides[3] : q.strides[3];
      E* const data = static_cast<E*>(key ? k.data : q.data);
      return data + Policy::index(first + (width == 1 ? feature * stride : feature));
    }

   private:
    std::int64_t of_q_ = 0;  // elements from the tensor's first one
    std::int64_t of_k_ = 0;
  };

  __device__ static Features features(const Job& job, int chunk) {
    const int pairs = job.call.rotary_dim / 2;
    if (chunk < job.rotary_chunks) {
      const bool neighbours = width == 1 && job.call.pairing == ROPE_INTERLEAVED;
      return neighbours ? Features{chunk, 2 * chunk, 2 * chunk + 1}
                        : Features{chunk, chunk * width, chunk * width + pairs};
    }
    const int first = 2 * pairs + (chunk - job.rotary_chunks) * 2 * width;
    return {chunk, first, first + width < job.call.q.shape[3] ? first + width : -1};
  }

  __device__ static int row_size(const Job& job) { return job.unit_tokens * static_cast<int>(job.slots.value()); }
  __device__ std::int64_t head_of(const Job& job, int i) const { return head_ + i * std::int64_t{job.lanes}; }

  __device__ void turn(const Job& job, const Elements<In, width> (&held)[2], const Turns<Work, width>& second,
                       Elements<Out, width> (&result)[2]) const {
    const auto turn_pair = [&](int i, Work& a, Work& b) {
      const Work x = a;
      a = x * turns_by_.cos[i] - b * turns_by_.sin[i];
      b = b * second.cos[i] + x * second.sin[i];
    };
    Work values[2][width];
    widen<Work>(held[0], values[0]);
    widen<Work>(held[1], values[1]);
    if (width == 1 || job.call.pairing == ROPE_HALF_SPLIT) {
      ROPE_UNROLL
      for (int i = 0; i < width; ++i) turn_pair(i, values[0][i], values[1][i]);
    } else {
      ROPE_UNROLL
      for (int i = 0; i < width; ++i) {
        Work(&half)[width] = values[2 * i / width];
        turn_pair(i, half[2 * i % width], half[(2 * i + 1) % width]);
      }
    }
    narrow(values[0], result[0]);
    narrow(values[1], result[1]);
  }

  // Uses the working type only if the type changes: a conversion would quiet a signalling NaN.
  __device__ void pass(const Elements<In, width> (&held)[2], Elements<Out, width> (&result)[2]) const {
    for (int half = 0; half < (at_.second >= 0 ? 2 : 1); ++half) {
      if constexpr (std::is_same_v<In, Out>) {
        result[half] = held[half];
      } else {
        Work values[width];
        widen<Work>(held[half], values);
        narrow(values, result[half]);
      }
    }
  }

  std::int64_t head_ = 0;  // the next one; heads of q and k
  std::int64_t end_ = 0;
  int slot_ = 0;
  bool turns_ = false;
  Features at_{};
  Row<const In> x_;
  Row<Out> y_;
  Turns<Work, width> turns_by_;
  Elements<In, width> held_[in_flight][2];
};

// What every thread does.
template <class V, class Policy = AsIntended>
__device__ void rotate(const Job& job) {
  ROPE_SHARED_MEMORY(shared);
  auto* const rows = reinterpret_cast<typename V::Work*>(shared);
  for (std::int64_t index = Policy::first_unit(); index < job.units; index += Policy::unit_step()) {
    const Unit unit = unit_of(job, index);
    for (std::uint32_t place = threadIdx.x; place == threadIdx.x || place < job.places; place += blockDim.x) {
      Share<V, Policy> share(job, unit, place);
      share.load(job);
      if (place == threadIdx.x) {
        fill_rows<V, Policy>(job, unit, rows);
        Policy::rows_are_filled(share.has_head());
      }
      share.load_turns(job, rows);
      while (share.has_head()) {
        share.turn_and_store(job, rows);
        share.load(job);
      }
    }
    if (index + Policy::unit_step() < job.units) Policy::rows_are_used();
  }
}

}  // namespace rope::cuda
