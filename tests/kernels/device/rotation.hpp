// A rotation as a grid of threads, and its edits. An edit is a class that overrides functions of Right; it is the whole
// bug. on_device.cu compiles this with nvcc, on_cpu.cpp for the grid on the CPU.
#pragma once

#include <cstdint>

#include "impls/cuda/elements.hpp"
#include "impls/include/rope_kernel.h"

namespace rope::device_kernels {

struct Grid {
  unsigned blocks_x = 1;
  unsigned blocks_y = 1;
  unsigned threads = 256;
};

struct Place {
  std::int64_t batch, token, head, pair;
};

struct Turn {
  float cos, sin;
};

ROPE_HOST_DEVICE inline std::int64_t pairs_of_head(const rope_call& call) { return call.rotary_dim / 2; }

ROPE_HOST_DEVICE inline std::int64_t pairs_of(const rope_call& call) {
  return call.q.shape[0] * call.q.shape[1] * call.q.shape[2] * pairs_of_head(call);
}

__device__ inline Place place_of(const rope_call& call, std::int64_t index) {
  const std::int64_t half = pairs_of_head(call), heads = call.q.shape[2], tokens = call.q.shape[1];
  return {index / half / heads / tokens, index / half / heads % tokens, index / half % heads, index % half};
}

__device__ inline std::int64_t element(const rope_tensor& tensor, const Place& at) {
  return at.batch * tensor.strides[0] + at.token * tensor.strides[1] + at.head * tensor.strides[2] + at.pair;
}

__device__ inline const float* input(const rope_call& call, const Place& at) {
  return static_cast<const float*>(call.q.data) + element(call.q, at);
}

__device__ inline float* output(const rope_call& call, const Place& at) {
  return static_cast<float*>(call.q_out.data) + element(call.q_out, at);
}

__device__ inline bool is_last(const rope_call& call, const Place& at) {
  return at.batch == call.q.shape[0] - 1 && at.token == call.q.shape[1] - 1 && at.head == call.q.shape[2] - 1 &&
         at.pair == pairs_of_head(call) - 1;
}

struct Right {
  static constexpr bool takes_the_stream = true;
  static constexpr bool waits = false;
  static constexpr bool asks_whether_it_started = true;

  static Grid grid(const rope_call& call) {
    const std::int64_t blocks = (pairs_of(call) + 255) / 256;
    return {static_cast<unsigned>(blocks < 1024 ? blocks : 1024)};
  }

  __device__ static void start(const rope_call&) {}
  __device__ static std::int64_t position(const rope_call& call, const Place& at) {
    return call.positions.offset + at.token;
  }

  template <class Edit>
  __device__ static Turn turn_of(const rope_call& call, const Place& at) {
    const std::int64_t index = Edit::position(call, at) * call.table.row_stride + at.pair;
    return {static_cast<const float*>(call.table.cos)[index], static_cast<const float*>(call.table.sin)[index]};
  }

  // All threads of a block call this, also those beyond the last pair. `first`: the block's first pair.
  template <class Edit>
  __device__ static Turn turn(const rope_call& call, std::int64_t first) {
    const std::int64_t index = first + threadIdx.x;
    return index < pairs_of(call) ? turn_of<Edit>(call, place_of(call, index)) : Turn{1, 0};
  }

  __device__ static void rotate(const rope_call& call, const Place& at, const Turn& turn) {
    const float* x = input(call, at);
    float* y = output(call, at);
    const std::int64_t half = pairs_of_head(call);
    const float first = x[0], second = x[half];
    y[0] = first * turn.cos - second * turn.sin;
    y[half] = second * turn.cos + first * turn.sin;
  }

  template <class Edit>
  __device__ static void run(const rope_call& call) {
    Edit::start(call);
    const std::int64_t pairs = pairs_of(call), step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x; first < pairs; first += step) {
      const Turn turn = Edit::template turn<Edit>(call, first);
      if (first + threadIdx.x < pairs) Edit::rotate(call, place_of(call, first + threadIdx.x), turn);
    }
  }
};

// Right: waiting for the work is allowed.
struct Waits : Right {
  static constexpr bool waits = true;
};

// Right: each thread brings the cos and sin of another thread into shared memory.
template <bool with_barriers>
struct SharedTurns : Right {
  template <class Edit>
  __device__ static Turn turn(const rope_call& call, std::int64_t first) {
    ROPE_SHARED_MEMORY(shared);
    auto* turns = reinterpret_cast<Turn*>(shared);
    const unsigned other = blockDim.x - 1 - threadIdx.x;
    if (first + other < pairs_of(call)) turns[other] = turn_of<Edit>(call, place_of(call, first + other));
    if constexpr (with_barriers) __syncthreads();
    const Turn own = turns[threadIdx.x];
    if constexpr (with_barriers) __syncthreads();
    return own;
  }
};

struct DefaultStream : Right {
  static constexpr bool takes_the_stream = false;
};

struct BlockTooLarge : Right {
  static constexpr bool asks_whether_it_started = false;
  static Grid grid(const rope_call& call) {
    Grid grid = Right::grid(call);
    if (call.q.shape[1] > 16) grid.threads = 2048;
    return grid;
  }
};

struct TokensInGridY : Right {
  static Grid grid(const rope_call& call) { return {1, static_cast<unsigned>(call.q.shape[1]), 32}; }
  template <class Edit>
  __device__ static void run(const rope_call& call) {
    const std::int64_t half = pairs_of_head(call), heads = call.q.shape[2];
    for (std::int64_t i = threadIdx.x; i < call.q.shape[0] * heads * half; i += blockDim.x) {
      const Place at{i / half / heads, blockIdx.y, i / half % heads, i % half};
      rotate(call, at, turn_of<Edit>(call, at));
    }
  }
};

struct BarrierForSome : Right {
  __device__ static void rotate(const rope_call& call, const Place& at, const Turn& turn) {
    __syncthreads();
    Right::rotate(call, at, turn);
  }
};

struct ReadBeyond : Right {
  __device__ static void rotate(const rope_call& call, const Place& at, const Turn& turn) {
    const float beyond = input(call, at)[call.q.shape[3]];
    Right::rotate(call, at, {beyond == 1.2345e20f ? beyond : turn.cos, turn.sin});  // read, and never of effect
  }
};

struct ReadOutput : Right {
  __device__ static void rotate(const rope_call& call, const Place& at, const Turn& turn) {
    if (*output(call, at) != 1.2345e20f) Right::rotate(call, at, turn);
  }
};

struct WriteBeyond : Right {
  __device__ static void rotate(const rope_call& call, const Place& at, const Turn& turn) {
    Right::rotate(call, at, turn);
    if (is_last(call, at)) output(call, at)[call.q_out.shape[3]] = 0;
  }
};

struct WriteInput : Right {
  __device__ static void rotate(const rope_call& call, const Place& at, const Turn& turn) {
    Right::rotate(call, at, turn);
    if (is_last(call, at) && call.q.data != call.q_out.data) const_cast<float*>(input(call, at))[0] = 3;
  }
};

struct WildAddress : Right {
  __device__ static void start(const rope_call& call) {
    // An address in the first page, which no process has.
    if (call.q.shape[1] > 16) *reinterpret_cast<volatile float*>(call.rotary_dim * sizeof(float)) = 1;
  }
};

struct LoadsOf16Bytes : Right {
  __device__ static void rotate(const rope_call& call, const Place& at, const Turn& turn) {
    constexpr int wide = 4;
    const std::int64_t half = pairs_of_head(call);
    if (half % wide != 0) return Right::rotate(call, at, turn);
    const std::int64_t in_vector = at.pair % wide;
    const float* x = input(call, at) - in_vector;
    const auto first = cuda::load<float, wide>(x), second = cuda::load<float, wide>(x + half);
    float* y = output(call, at);
    y[0] = first.at[in_vector] * turn.cos - second.at[in_vector] * turn.sin;
    y[half] = second.at[in_vector] * turn.cos + first.at[in_vector] * turn.sin;
  }
};

struct LoadAfterStore : Right {
  __device__ static void rotate(const rope_call& call, const Place& at, const Turn& turn) {
    const float* x = input(call, at);
    float* y = output(call, at);
    const std::int64_t half = pairs_of_head(call);
    y[0] = x[0] * turn.cos - x[half] * turn.sin;
    y[half] = x[half] * turn.cos + x[0] * turn.sin;
  }
};

struct Hangs : Right {
  __device__ static void start(const rope_call& call) {
    volatile std::int64_t rounds = call.q.shape[1] > 4 ? 100'000'000'000 : 0;
    while (rounds > 0) rounds = rounds - 1;
  }
};

struct OffsetLost : Right {
  __device__ static std::int64_t position(const rope_call&, const Place& at) { return at.token; }
};

}  // namespace rope::device_kernels
