// The rotation kernel: one source. nvcc compiles it for devices, any C++ compiler compiles it through grid_shim.hpp.
//
// A block takes one unit after the other (job.hpp). Each thread has one chunk of one token of the unit, in every n-th
// head. All of these heads have the same cos and sin. The thread first requests the elements of its first heads. Then
// it brings its part of cos and sin of the unit's tokens into shared memory. When all threads have done so, it turns
// head after head.
#pragma once

#include "impls/cuda/elements.hpp"
#include "impls/cuda/job.hpp"
#include "impls/cuda/shared_rows.hpp"
#include "impls/turn.hpp"

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
    const int pairs = job.call.rotary_dim / 2, offset = job.call.rotary_offset;
    if (chunk < job.rotary_chunks) {
      const bool neighbours = width == 1 && job.call.pairing == ROPE_INTERLEAVED;
      return neighbours ? Features{chunk, offset + 2 * chunk, offset + 2 * chunk + 1}
                        : Features{chunk, offset + chunk * width, offset + chunk * width + pairs};
    }
    const int before = (chunk - job.rotary_chunks) * 2 * width;  // features that do not turn
    const int first = before < offset ? before : 2 * pairs + before;
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
