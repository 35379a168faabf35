// The rotation kernel: one source, which nvcc compiles for devices and any C++ compiler by way of grid_shim.hpp.
//
// A block takes one unit after the other (job.hpp). For each it first asks for the elements of its first chunks, then
// brings cos and sin of the unit's tokens into shared memory, all threads sharing the pairs, and turns the chunks by
// them.
//
// Shared memory: rows of job.slots values in the working type, [row][token][slot]; row 0 cos and row 1 sin, attention
// factor and direction included; with two_rows those of the first features, and 2 and 3 those of the second ones.
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

// What a wrong kernel of tests/mutants/ does otherwise. A kernel is instantiated with this or a class derived from it.
struct AsIntended {
  __device__ static std::int64_t first_unit() { return blockIdx.x; }
  __device__ static std::int64_t unit_step() { return gridDim.x; }
  __device__ static std::int64_t index(std::int64_t element) { return element; }
  __device__ static int items(int unit) { return unit; }
  __device__ static void rows_are_filled(bool /*this thread has a chunk*/) { __syncthreads(); }
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

__device__ inline Unit unit_of(const Job& job, std::int64_t index) {
  const std::int64_t stretch = index % job.stretches;
  index /= job.stretches;
  const std::int64_t group = index % job.groups;
  index /= job.groups;
  const std::int64_t token = index * job.unit_tokens;
  const std::int64_t left = job.tokens - token;
  return {{token / job.call.q.shape[1], token % job.call.q.shape[1]},
          group * job.unit_heads.value(),
          static_cast<int>(stretch * job.unit_chunks.value()),
          static_cast<int>(left < job.unit_tokens ? left : job.unit_tokens)};
}

// A division of 64 bits costs a device as much as a chunk: only tokens of a later batch pay for one.
__device__ inline Token token_of(const Job& job, const Unit& unit, int index) {
  const std::int64_t seq = unit.first.seq + index;
  const std::int64_t length = job.call.q.shape[1];
  if (seq < length) return {unit.first.batch, seq};
  return {unit.first.batch + seq / length, seq % length};
}

// The pair that slot `slot` of a unit holds. Chunks of more than one interleaved pair are two runs of features, one in
// each half of the rotary ones as with half-split pairs; the runs are whole pairs.
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

// Columns of the first and the second feature of a pair into rows 0 to 3. Where the position has no row in the tables
// they become NaN: nothing is read that is not there.
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
    const std::int64_t position = position_of(job.call.positions, axis, token.batch, token.seq);
    if constexpr (V::given) {
      read_tables<typename V::Work, Policy>(job, position, pair, rows + i, job.unit_tokens * slots);
    } else {
      compute_angle<typename V::Work, Policy>(job, position, pair, rows + i, job.unit_tokens * slots);
    }
  }
}

// One chunk of one head of one token, on its way from the input to the output.
template <class V, class Policy>
class Chunk {
  using In = typename V::In;
  using Out = typename V::Out;
  using Work = typename V::Work;
  static constexpr int width = V::width;

 public:
  // False where `item` is none: beyond the last head or chunk.
  __device__ bool load(const Job& job, const Unit& unit, int item) {
    const auto row = static_cast<int>(job.unit_chunks.quotient(static_cast<std::uint32_t>(item)));
    const int in_unit = item - row * static_cast<int>(job.unit_chunks.value());
    const int index = static_cast<int>(job.unit_heads.quotient(static_cast<std::uint32_t>(row)));
    std::int64_t head = unit.head + row - index * static_cast<std::int64_t>(job.unit_heads.value());
    const int chunk = unit.chunk + in_unit;
    if (chunk >= job.chunks || head >= job.heads) return false;

    const bool key = head >= job.call.q.shape[2];
    if (key) head -= job.call.q.shape[2];
    slot_ = index * static_cast<int>(job.slots.value()) + in_unit * width;
    turns_ = chunk < job.rotary_chunks;
    const Features at = features(job, chunk);
    const Token token = token_of(job, unit, index);
    const Row<const In> x(key, job.call.q, job.call.k, token, head);
    const Row<Out> y(key, job.call.q_out, job.call.k_out, token, head);
    held_[0] = cuda::load<In, width>(x.at(at.first));
    y_[0] = y.at(at.first);
    y_[1] = nullptr;
    if (at.second >= 0) {
      held_[1] = cuda::load<In, width>(x.at(at.second));
      y_[1] = y.at(at.second);
    }
    if (width == 1 && turns_) {
      held_[1].at[0] = Policy::template partner<In, width>(job, chunk, held_[0].at[0], held_[1].at[0]);
    }
    return true;
  }

  __device__ void turn_and_store(const Job& job, const Work* rows) const {
    Elements<Out, width> result[2];
    if (turns_) {
      turn(job, rows + slot_, job.unit_tokens * static_cast<int>(job.slots.value()), result);
    } else {
      pass(result);
    }
    cuda::store(result[0], y_[0]);
    if (y_[1] != nullptr) cuda::store(result[1], y_[1]);
  }

 private:
  struct Features {
    int first;
    int second;  // -1: none
  };

  __device__ Features features(const Job& job, int chunk) const {
    const int pairs = job.call.rotary_dim / 2;
    if (turns_) {
      const bool neighbours = width == 1 && job.call.pairing == ROPE_INTERLEAVED;
      return neighbours ? Features{2 * chunk, 2 * chunk + 1} : Features{chunk * width, chunk * width + pairs};
    }
    const int first = 2 * pairs + (chunk - job.rotary_chunks) * 2 * width;
    return {first, first + width < job.call.q.shape[3] ? first + width : -1};
  }

  // A head of q or of k. Every value is chosen for itself: a tensor chosen by its address would make of the kernel's
  // parameter, which a device reads like constants, memory that it loads from.
  template <class E>
  class Row {
   public:
    __device__ Row(bool key, const rope_tensor& q, const rope_tensor& k, const Token& token, std::int64_t head)
        : data_(static_cast<E*>(key ? k.data : q.data)),
          first_(token.batch * (key ? k.strides[0] : q.strides[0]) + token.seq * (key ? k.strides[1] : q.strides[1]) +
                 head * (key ? k.strides[2] : q.strides[2])),
          stride_(key ? k.strides[3] : q.strides[3]) {}
    __device__ E* at(int feature) const {
      return data_ + Policy::index(first_ + (width == 1 ? feature * stride_ : feature));
    }

   private:
    E* data_;
    std::int64_t first_;  // elements from the tensor's first one
    std::int64_t stride_;
  };

  __device__ void turn(const Job& job, const Work* rows, int row_size, Elements<Out, width> (&result)[2]) const {
    Work cos_first[width];
    Work sin_first[width];
    Work cos_second[width];
    Work sin_second[width];
    load_row(rows, cos_first);
    load_row(rows + row_size, sin_first);
    if (job.two_rows) {
      load_row(rows + 2 * row_size, cos_second);
      load_row(rows + 3 * row_size, sin_second);
    } else {
      ROPE_UNROLL
      for (int i = 0; i < width; ++i) {
        cos_second[i] = cos_first[i];
        sin_second[i] = sin_first[i];
      }
    }
    const auto turn_pair = [&](int i, Work& a, Work& b) {
      const Work x = a;
      a = x * cos_first[i] - b * sin_first[i];
      b = b * cos_second[i] + x * sin_second[i];
    };
    Work values[2][width];
    widen<Work>(held_[0], values[0]);
    widen<Work>(held_[1], values[1]);
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

  __device__ static void load_row(const Work* row, Work (&values)[width]) {
    constexpr int step = width == 1 ? 1 : static_cast<int>(16 / sizeof(Work));
    ROPE_UNROLL
    for (int i = 0; i < width; i += step) {
      const Elements<Work, step> some = cuda::load<Work, step>(row + i);
      ROPE_UNROLL
      for (int j = 0; j < step; ++j) values[i + j] = some.at[j];
    }
  }

  // By way of the working type only where the type changes: a conversion would quiet a signalling NaN.
  __device__ void pass(Elements<Out, width> (&result)[2]) const {
    for (int half = 0; half < (y_[1] != nullptr ? 2 : 1); ++half) {
      if constexpr (std::is_same_v<In, Out>) {
        result[half] = held_[half];
      } else {
        Work values[width];
        widen<Work>(held_[half], values);
        narrow(values, result[half]);
      }
    }
  }

  Out* y_[2];  // where the two halves go; nullptr: there is no second one
  int slot_;
  bool turns_;
  Elements<In, width> held_[2];
};

constexpr int in_flight = 2;  // chunks that a thread asks for before it turns the first

// What every thread does.
template <class V, class Policy = AsIntended>
__device__ void rotate(const Job& job) {
  ROPE_SHARED_MEMORY(shared);
  auto* const rows = reinterpret_cast<typename V::Work*>(shared);
  const int threads = static_cast<int>(blockDim.x);
  for (std::int64_t index = Policy::first_unit(); index < job.units; index += Policy::unit_step()) {
    const Unit unit = unit_of(job, index);
    const int items = Policy::items(unit.tokens * static_cast<int>(job.unit_heads.value() * job.unit_chunks.value()));
    int item = static_cast<int>(threadIdx.x);
    Chunk<V, Policy> chunks[in_flight];
    bool holds[in_flight];
    const auto load = [&] {
      ROPE_UNROLL
      for (int i = 0; i < in_flight; ++i) {
        holds[i] = item + i * threads < items && chunks[i].load(job, unit, item + i * threads);
      }
    };
    load();
    fill_rows<V, Policy>(job, unit, rows);
    Policy::rows_are_filled(holds[0]);
    for (;;) {
      ROPE_UNROLL
      for (int i = 0; i < in_flight; ++i) {
        if (holds[i]) chunks[i].turn_and_store(job, rows);
      }
      item += in_flight * threads;
      if (item >= items) break;
      load();
    }
    if (index + Policy::unit_step() < job.units) Policy::rows_are_used();
  }
}

}  // namespace rope::cuda
