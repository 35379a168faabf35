// Tokens, with all their heads, are divided among threads by hand, so that angles are computed once per token. Small
// calls stay on the caller's thread. Half split only.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/engine.hpp"

namespace rope::designs::engines {
namespace {

constexpr std::int64_t workers_of_large_calls = 3;
constexpr std::int64_t tokens_of_small_calls = 32;

struct Share {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t step;
};

class Plan {
 public:
  explicit Plan(const rope_call& call)
      : c(call), half(call.rotary_dim / 2), batches(call.q.shape[0]), tokens(call.q.shape[1]) {
    if (c.angle_source == ROPE_FREQUENCIES) {
      theta.resize(static_cast<std::size_t>(half));
      for (std::int64_t p = 0; p < half; ++p) {
        theta[static_cast<std::size_t>(p)] = c.theta_dtype == ROPE_F64
                                                 ? static_cast<const double*>(c.theta)[p]
                                                 : static_cast<double>(static_cast<const float*>(c.theta)[p]);
      }
    }
  }
  std::int64_t position(std::int64_t b, std::int64_t s) const { return position_of(c.positions, b, s); }
  // Cosines, then sines; the attention factor is in both.
  void angles(std::int64_t pos, float* cs) const {
    if (c.angle_source == ROPE_TABLES) {
      const float* co = static_cast<const float*>(c.table.cos) + pos * c.table.row_stride;
      const float* si = static_cast<const float*>(c.table.sin) + pos * c.table.row_stride;
      std::copy_n(co, half, cs);
      std::copy_n(si, half, cs + half);
      if (c.attention_factor != 1.0) {
        for (std::int64_t i = 0; i < 2 * half; ++i) cs[i] = static_cast<float>(cs[i] * c.attention_factor);
      }
      return;
    }
    for (std::int64_t p = 0; p < half; ++p) {
      const double phi = static_cast<double>(pos) * theta[static_cast<std::size_t>(p)];
      cs[p] = static_cast<float>(std::cos(phi) * c.attention_factor);
      cs[p + half] = static_cast<float>(std::sin(phi) * c.attention_factor);
    }
  }
  template <class T>
  void row(const rope_tensor& in, const rope_tensor& out, std::int64_t b, std::int64_t s, std::int64_t h,
           const float* cs) const {
    const T* x = static_cast<const T*>(in.data) + b * in.strides[0] + s * in.strides[1] + h * in.strides[2];
    T* y = static_cast<T*>(out.data) + b * out.strides[0] + s * out.strides[1] + h * out.strides[2];
    for (std::int64_t p = 0; p < half; ++p) {
      const float a = static_cast<float>(x[p]);
      const float d = static_cast<float>(x[p + half]);
      y[p] = static_cast<T>(a * cs[p] - d * cs[p + half]);
      y[p + half] = static_cast<T>(d * cs[p] + a * cs[p + half]);
    }
    if (x != y && in.shape[3] > 2 * half) {
      std::memcpy(y + 2 * half, x + 2 * half, static_cast<std::size_t>(in.shape[3] - 2 * half) * sizeof(T));
    }
  }
  void any_row(const rope_tensor& in, const rope_tensor& out, std::int64_t b, std::int64_t s, std::int64_t h,
               const float* cs) const {
    if (in.dtype == ROPE_F32) {
      row<float>(in, out, b, s, h, cs);
    } else {
      row<Float16>(in, out, b, s, h, cs);
    }
  }
  void heads(const rope_tensor& in, const rope_tensor& out, std::int64_t b, std::int64_t s, const float* cs) const {
    for (std::int64_t h = 0; h < in.shape[2]; ++h) any_row(in, out, b, s, h, cs);
  }
  std::int64_t all() const { return batches * tokens; }
  std::int64_t workers() const { return all() >= tokens_of_small_calls ? workers_of_large_calls : 1; }
  bool has_key() const { return c.k.data != nullptr; }
  std::size_t width() const { return static_cast<std::size_t>(c.rotary_dim); }

  const rope_call& c;
  const std::int64_t half;
  const std::int64_t batches;
  const std::int64_t tokens;
  std::vector<double> theta;
};

// One of the workers is the caller's thread.
void team(std::int64_t workers, const std::function<void(std::int64_t)>& work) {
  std::vector<std::thread> crew;
  for (std::int64_t t = 1; t < workers; ++t) crew.emplace_back(work, t);
  work(0);
  for (auto& one : crew) one.join();
}

void rotate_tokens(const Plan& plan, Share share, float* cs) {
  for (std::int64_t i = share.begin; i < share.end; i += share.step) {
    const std::int64_t b = i / plan.tokens;
    const std::int64_t s = i % plan.tokens;
    plan.angles(plan.position(b, s), cs);
    plan.heads(plan.c.q, plan.c.q_out, b, s, cs);
    if (plan.has_key()) plan.heads(plan.c.k, plan.c.k_out, b, s, cs);
  }
}

void runs(const Plan& plan) {
  const std::int64_t all = plan.all();
  const std::int64_t workers = plan.workers();
  const std::int64_t chunk = (all + workers - 1) / workers;
  team(workers, [&](std::int64_t t) {
    std::vector<float> cs(plan.width());
    rotate_tokens(plan, {std::min(all, t * chunk), std::min(all, (t + 1) * chunk), 1}, cs.data());
  });
}

void every_third(const Plan& plan) {
  const std::int64_t all = plan.all();
  const std::int64_t workers = plan.workers();
  team(workers, [&](std::int64_t t) {
    std::vector<float> cs(plan.width());
    rotate_tokens(plan, {t, all, workers}, cs.data());
  });
}

constexpr std::uint32_t usual = mask(ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS, ROPE_FEATURE_OFFSET,
                                     ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS);
constexpr std::uint32_t more = usual | mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_ATTENTION_FACTOR, ROPE_FEATURE_STRIDED);

constexpr rope_capabilities base_claims(std::uint32_t features, bool f16) {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.out_dtypes[ROPE_F16] = f16 ? mask(ROPE_F16) : 0;
  claims.position_dtypes = mask(ROPE_I32, ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT);
  claims.features = features;
  claims.max_position = (std::int64_t{1} << 20) - 1;
  return claims;
}

template <std::uint32_t features, bool f16>
constexpr rope_capabilities given_theta = [] {
  rope_capabilities claims = base_claims(features, f16);
  claims.theta_dtypes = mask(ROPE_F32, ROPE_F64);
  claims.angle_sources = mask(ROPE_FREQUENCIES);
  return claims;
}();

template <std::uint32_t features, bool f16>
constexpr rope_capabilities given_tables = [] {
  rope_capabilities claims = base_claims(features, f16);
  claims.table_dtypes = mask(ROPE_F32);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.half_tables = 1;
  return claims;
}();

template <void (*rotate)(const Plan&), const rope_capabilities& claims>
std::int32_t apply(const rope_call* call) {
  return if_accepted(call, claims, [call] {
    rotate(Plan(*call));
    return ROPE_OK;
  });
}

template <void (*rotate)(const Plan&), const rope_capabilities& claims>
constexpr rope_kernel row_shares(const char* name) {
  return kernel(name, "tokens divided among threads", apply<rotate, claims>, claims);
}

constexpr rope_kernel kernels[] = {
    row_shares<runs, given_theta<more, false>>("row_shares"),
    row_shares<every_third, given_tables<more, true>>("row_shares-every-third"),
};

}  // namespace

Kernels row_shares_kernels() { return kernels; }

}  // namespace rope::designs::engines
