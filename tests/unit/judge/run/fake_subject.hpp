// Subjects in this process that act as a test says.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "impls/builtin.hpp"
#include "tests/unit/judge/case/any_case.hpp"

namespace rope::test {

class Fake : public Subject {
 public:
  Fake(Claims claims, std::function<Reply(Call&)> answer) : claims_(std::move(claims)), answer_(std::move(answer)) {}

  const std::string& name() const override { return name_; }
  const Claims& claims() const override { return claims_; }
  Reply apply(Call& call) override {
    ++calls;
    return answer_(call);
  }

  bool renew() override {
    if (!forget) return false;
    forget();
    return true;
  }
  void give_back_memory() override { ++given_back; }
  std::int64_t deaths() const override { return died; }

  std::int64_t calls = 0;
  std::int64_t given_back = 0;  // how often it was asked to
  std::int64_t died = 0;         // counted up by the answer
  std::function<void()> forget;  // what a new process does not know; if it is missing, there is no new process

 private:
  std::string name_ = "fake";
  Claims claims_;
  std::function<Reply(Call&)> answer_;
};

// f32, half-split, contiguous, angles computed without scaling, positions from an offset, any batch.
inline Claims narrow_claims() {
  Claims claims;
  rope_capabilities& k = claims.capabilities;
  k.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  k.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  k.angle_sources = ROPE_BIT(ROPE_COMPUTED);
  k.scalings = ROPE_BIT(ROPE_SCALING_NONE);
  k.features = ROPE_BIT(ROPE_FEATURE_OFFSET);
  k.max_position = 1 << 20;
  return claims;
}

inline Reply right(Call& call) {
  KernelSubject kernel(half_split_kernel());
  return kernel.apply(call);
}

// The right kernel of the call's pairing, which addresses each tensor by other strides.
inline Reply readdressed(Call& call, void (*change)(Tensor&)) {
  Call taken = call;
  for (Tensor* tensor : {&taken.q, taken.k ? &*taken.k : nullptr, taken.q_out ? &*taken.q_out : nullptr,
                         taken.k_out ? &*taken.k_out : nullptr}) {
    if (tensor != nullptr) change(*tensor);
  }
  KernelSubject kernel(call.pairing == Pairing::half_split ? half_split_kernel() : interleaved_kernel());
  const Reply reply = kernel.apply(taken);
  call.q.bytes = taken.q.bytes;
  if (call.k) call.k->bytes = taken.k->bytes;
  if (call.q_out) call.q_out->bytes = taken.q_out->bytes;
  if (call.k_out) call.k_out->bytes = taken.k_out->bytes;
  return reply;
}

// f32 kernels whose angles are of grade B, of grade C, and worse.
template <class Theta>
Reply in_float(Call& call, Theta theta_of) {
  if (Call checked = call; right(checked).status != ROPE_OK) return right(call);  // a call that no kernel may touch
  const std::int64_t dim = call.q.shape[3], heads = call.q.shape[2], seq = call.q.shape[1];
  const std::vector<float> theta = theta_of(static_cast<float>(call.base), static_cast<int>(dim));
  const auto* x = reinterpret_cast<const float*>(call.q.data());
  auto* y = reinterpret_cast<float*>(call.q_out->data());
  for (std::int64_t row = 0; row < call.q.count() / dim; ++row, x += dim, y += dim) {
    const auto m = static_cast<float>(call.position_offset + row / heads % seq);
    for (std::int64_t p = 0; p < dim / 2; ++p) {
      const float phi = m * theta[static_cast<std::size_t>(p)];
      const float c = std::cos(phi), s = std::sin(phi);
      y[p] = x[p] * c - x[p + dim / 2] * s;
      y[p + dim / 2] = x[p + dim / 2] * c + x[p] * s;
    }
  }
  return {};
}

inline std::vector<float> direct(float base, int dim) {
  std::vector<float> theta;
  for (int p = 0; p < dim / 2; ++p) {
    theta.push_back(1.0F / std::pow(base, static_cast<float>(2 * p) / static_cast<float>(dim)));
  }
  return theta;
}

inline std::vector<float> by_multiplication(float base, int dim) {
  std::vector<float> theta(static_cast<std::size_t>(dim / 2), 1.0F);
  const float step = std::pow(base, -2.0F / static_cast<float>(dim));
  for (std::size_t p = 1; p < theta.size(); ++p) theta[p] = theta[p - 1] * step;
  return theta;
}

inline std::vector<float> in_bfloat16(float base, int dim) {
  std::vector<float> theta = direct(base, dim);
  for (float& value : theta) value = static_cast<float>(bfloat16_to_double(double_to_bfloat16(value)));
  return theta;
}

}  // namespace rope::test
