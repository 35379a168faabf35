// An atomic counter hands out tiles of rows to a few workers until none is left. A row is one head of one token; q's
// rows come first, k's after them. Everything else is computed from a flat row number.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/engine.hpp"

namespace rope::designs::engines {
namespace {

constexpr std::int64_t tile_rows = 64;
constexpr int workers_of_many_tiles = 2;

enum class Bug {
  none,
  none_computed,
  row_by_f32_reciprocal,
  none_copied_at_zero,
  none_divides_by_heads,
};

extern const rope_kernel kernels[];  // in the order of Bug

struct Worker {
  std::int64_t token = -1;
  std::vector<float> cs;
};

template <Bug bug>
struct Grid {
  explicit Grid(const rope_call& call) : c(call), half(call.rotary_dim / 2) {
    q_rows = designs_rows(&c.q);
    rows = q_rows + (c.k.data ? designs_rows(&c.k) : 0);
    if (c.angle_source == ROPE_TABLES) return;
    theta.resize(static_cast<std::size_t>(half));
    for (std::int64_t p = 0; p < half; ++p) {
      double t;
      if (c.angle_source == ROPE_FREQUENCIES) {
        t = c.theta_dtype == ROPE_F64 ? static_cast<const double*>(c.theta)[p] : static_cast<const float*>(c.theta)[p];
      } else {
        t = std::pow(c.base, -2.0 * static_cast<double>(p) / c.rotary_dim);
      }
      theta[static_cast<std::size_t>(p)] = t;
    }
  }

  std::int64_t position(std::int64_t b, std::int64_t s) const {
    const rope_positions& p = c.positions;
    return position_of(p, b, s);
  }

  void angles(std::int64_t m, Worker& w) const {
    w.cs.resize(static_cast<std::size_t>(2 * half));
    const float factor = static_cast<float>(c.attention_factor);
    if (c.angle_source == ROPE_TABLES) {
      const float* co = static_cast<const float*>(c.table.cos) + m * c.table.row_stride;
      const float* si = static_cast<const float*>(c.table.sin) + m * c.table.row_stride;
      for (std::int64_t p = 0; p < half; ++p) {
        w.cs[static_cast<std::size_t>(2 * p)] = co[p] * factor;
        w.cs[static_cast<std::size_t>(2 * p + 1)] = si[p] * factor;
      }
      return;
    }
    for (std::int64_t p = 0; p < half; ++p) {
      const double phi = static_cast<double>(m) * theta[static_cast<std::size_t>(p)];
      w.cs[static_cast<std::size_t>(2 * p)] = static_cast<float>(std::cos(phi) * c.attention_factor);
      w.cs[static_cast<std::size_t>(2 * p + 1)] = static_cast<float>(std::sin(phi) * c.attention_factor);
    }
  }

  std::int64_t first_of(const rope_tensor& t, std::int64_t b, std::int64_t s, std::int64_t h) const {
    return element(t, b, s, h);
  }

  template <class T>
  void one(const rope_tensor& in, const rope_tensor& out, std::int64_t r, Worker& w) const {
    const std::int64_t token = r / in.shape[2];
    const std::int64_t h = r % in.shape[2];
    const std::int64_t b = token / in.shape[1];
    const std::int64_t s = token % in.shape[1];
    const T* x = static_cast<const T*>(in.data) + first_of(in, b, s, h);
    T* y = static_cast<T*>(out.data) + first_of(out, b, s, h);
    const bool neighbours = c.pairing == ROPE_INTERLEAVED;
    const std::int64_t head_dim = in.shape[3];
    if (w.token != token) {
      w.token = token;
      angles(position(b, s), w);
    }
    if (bug == Bug::none_copied_at_zero && position(b, s) == 0) {
      const float factor = static_cast<float>(c.attention_factor);
      for (std::int64_t i = 0; i < 2 * half; ++i) y[i] = narrow<T>(widen(x[i]) * factor);
    } else {
      for (std::int64_t p = 0; p < half; ++p) {
        const std::int64_t i = neighbours ? 2 * p : p;
        const std::int64_t j = neighbours ? 2 * p + 1 : p + half;
        const float co = w.cs[static_cast<std::size_t>(2 * p)];
        const float si = w.cs[static_cast<std::size_t>(2 * p + 1)];
        const float a = widen(x[i]);
        const float d = widen(x[j]);
        y[i] = narrow<T>(a * co - d * si);
        y[j] = narrow<T>(a * si + d * co);
      }
    }
    if (x != y && head_dim > 2 * half) {
      std::memcpy(y + 2 * half, x + 2 * half, static_cast<std::size_t>(head_dim - 2 * half) * sizeof(T));
    }
  }

  void row(std::int64_t r, Worker& w) const {
    const bool key = r >= q_rows;
    const rope_tensor& in = key ? c.k : c.q;
    const rope_tensor& out = key ? c.k_out : c.q_out;
    const std::int64_t at = key ? r - q_rows : r;
    switch (in.dtype) {
      case ROPE_F32: one<float>(in, out, at, w); break;
      case ROPE_F16: one<Float16>(in, out, at, w); break;
      default: one<Bfloat16>(in, out, at, w); break;
    }
  }

  const rope_call& c;
  const std::int64_t half;
  std::int64_t q_rows = 0;
  std::int64_t rows = 0;
  std::vector<double> theta;
};

template <class Body>
void crew(int workers, const Body& body) {
  std::vector<std::thread> hands;
  for (int i = 1; i < workers; ++i) hands.emplace_back(body);
  body();
  for (auto& hand : hands) hand.join();
}

template <Bug bug>
void drain(const Grid<bug>& g) {
  const std::int64_t tiles = (g.rows + tile_rows - 1) / tile_rows;
  std::atomic<std::int64_t> next{0};
  crew(tiles >= 4 ? workers_of_many_tiles : 1, [&] {
    Worker w;
    for (std::int64_t t = next.fetch_add(1); t < tiles; t = next.fetch_add(1)) {
      for (std::int64_t r = t * tile_rows; r < std::min(g.rows, (t + 1) * tile_rows); ++r) g.row(r, w);
    }
  });
}

template <class T>
void drain_pairs(const rope_call& c, const rope_tensor& in, const rope_tensor& out,
                 const Grid<Bug::row_by_f32_reciprocal>& g) {
  const std::int64_t half = g.half;
  const std::int64_t heads = in.shape[2];
  const std::int64_t tokens = in.shape[1];
  const std::int64_t all = designs_rows(&in) * half;
  const std::int64_t head_dim = in.shape[3];
  const float inverse = 1.0f / static_cast<float>(half);
  const bool neighbours = c.pairing == ROPE_INTERLEAVED;
  Worker w;
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < all; ++i) {
    const std::int64_t r =
        std::min<std::int64_t>(static_cast<std::int64_t>((static_cast<float>(i) + 0.5f) * inverse), all / half - 1);
    const std::int64_t p = std::clamp<std::int64_t>(i - r * half, 0, half - 1);
    const std::int64_t token = r / heads;
    if (token != w.token) {
      w.token = token;
      g.angles(g.position(token / tokens, token % tokens), w);
    }
    const T* x = static_cast<const T*>(in.data) + g.first_of(in, token / tokens, token % tokens, r % heads);
    T* y = static_cast<T*>(out.data) + g.first_of(out, token / tokens, token % tokens, r % heads);
    const std::int64_t a = neighbours ? 2 * p : p;
    const std::int64_t b = neighbours ? 2 * p + 1 : p + half;
    const float co = w.cs[static_cast<std::size_t>(2 * p)];
    const float si = w.cs[static_cast<std::size_t>(2 * p + 1)];
    const float first = widen(x[a]);
    const float second = widen(x[b]);
    y[a] = narrow<T>(first * co - second * si);
    y[b] = narrow<T>(first * si + second * co);
    if (r != last && head_dim > 2 * half) {
      std::memcpy(y + 2 * half, x + 2 * half, static_cast<std::size_t>(head_dim - 2 * half) * sizeof(T));
    }
    last = r;
  }
}

// As in an engine that finds a worker's tokens before it checks anything.
bool too_many_tokens(const rope_call* call) {
  if (call == nullptr || call->abi != ROPE_KERNEL_ABI || call->struct_size < sizeof(rope_call)) return false;
  const volatile std::int64_t heads = call->q.shape[2];  // volatile: a compiler may drop a division that traps
  const std::int64_t rows = call->q.shape[0] * call->q.shape[1] * heads;
  return rows / heads > INT32_MAX;
}

template <Bug bug>
std::int32_t apply(const rope_call* call) {
  if (bug == Bug::none_divides_by_heads && too_many_tokens(call)) return ROPE_UNSUPPORTED;
  return if_accepted(call, kernels[static_cast<int>(bug)].claims, [call]() -> std::int32_t {
    const Grid<bug> grid(*call);
    if constexpr (bug == Bug::row_by_f32_reciprocal) {
      call->q.dtype == ROPE_F32 ? drain_pairs<float>(*call, call->q, call->q_out, grid)
                                : drain_pairs<Bfloat16>(*call, call->q, call->q_out, grid);
    } else {
      drain(grid);
    }
    return ROPE_OK;
  });
}

constexpr std::uint32_t in_place = mask(ROPE_FEATURE_IN_PLACE);
constexpr std::uint32_t strided = mask(ROPE_FEATURE_STRIDED);
constexpr std::uint32_t with_key = in_place | mask(ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS);
constexpr std::uint32_t factor = mask(ROPE_FEATURE_ATTENTION_FACTOR);

constexpr rope_capabilities base_claims(std::uint32_t more) {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.out_dtypes[ROPE_BF16] = mask(ROPE_BF16);
  claims.position_dtypes = mask(ROPE_I32, ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.features =
      more | mask(ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS, ROPE_FEATURE_OFFSET, ROPE_FEATURE_PARTIAL);
  return claims;
}

constexpr rope_capabilities given_tables(std::uint32_t more) {
  rope_capabilities claims = base_claims(more);
  claims.table_dtypes = mask(ROPE_F32);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.half_tables = 1;
  claims.max_position = INT32_MAX;
  return claims;
}

constexpr rope_capabilities computed(std::uint32_t more) {
  rope_capabilities claims = base_claims(more);
  claims.angle_sources = mask(ROPE_COMPUTED);
  claims.scalings = mask(ROPE_SCALING_NONE);
  claims.max_position = 1 << 20;
  return claims;
}

constexpr rope_capabilities with_theta(rope_capabilities claims) {
  claims.angle_sources |= mask(ROPE_FREQUENCIES);
  claims.theta_dtypes = mask(ROPE_F32, ROPE_F64);
  return claims;
}

constexpr rope_capabilities with_f16(rope_capabilities claims, bool bf16) {
  claims.out_dtypes[ROPE_F16] = mask(ROPE_F16);
  claims.out_dtypes[ROPE_BF16] = bf16 ? mask(ROPE_BF16) : 0;
  return claims;
}

template <Bug bug>
constexpr rope_kernel work_queue(const char* name, const rope_capabilities& claims) {
  return kernel(name, "tiles of rows from a queue", apply<bug>, claims);
}

constexpr rope_kernel kernels[] = {
    work_queue<Bug::none>("work_queue", with_f16(given_tables(with_key | strided | factor), true)),
    work_queue<Bug::none_computed>("work_queue-computed", with_theta(computed(with_key | factor))),
    work_queue<Bug::row_by_f32_reciprocal>("work_queue/row-by-f32-reciprocal", given_tables(0)),
    work_queue<Bug::none_copied_at_zero>("work_queue-copied-at-zero", with_f16(computed(with_key | factor), false)),
    work_queue<Bug::none_divides_by_heads>("work_queue-divides-by-heads", given_tables(in_place)),
};

}  // namespace

Kernels work_queue_kernels() { return kernels; }

}  // namespace rope::designs::engines
