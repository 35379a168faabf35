// Positions on several axes: first the cosines and sines of every axis, [axis][batch][token][pair]. They are then
// merged into one plane by the axis of each pair.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs {
namespace {

constexpr rope_capabilities make_claims() {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.theta_dtypes = mask(ROPE_F32);
  claims.position_dtypes = mask(ROPE_I32, ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_FREQUENCIES);
  claims.features = mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS, ROPE_FEATURE_KEY,
                         ROPE_FEATURE_GROUPED_HEADS, ROPE_FEATURE_AXES, ROPE_FEATURE_OFFSET);
  claims.max_position = 8192;
  claims.device = ROPE_CPU;
  return claims;
}
constexpr rope_capabilities claims = make_claims();

struct Planes {
  std::vector<float> cos, sin;
};

std::int64_t position(const rope_call& call, std::int64_t axis, std::int64_t batch, std::int64_t token) {
  if (call.positions.data == nullptr) return call.positions.offset + token;
  return given_position(call.positions, axis, batch, token);
}

Planes merged(const rope_call& call) {
  const std::int64_t axes = call.positions.data == nullptr ? 1 : std::max(call.positions.axes, 1);
  const auto pairs = static_cast<std::size_t>(call.rotary_dim / 2);
  const auto* theta = static_cast<const float*>(call.theta);
  Planes all;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    for (std::int64_t batch = 0; batch < call.q.shape[0]; ++batch) {
      for (std::int64_t token = 0; token < call.q.shape[1]; ++token) {
        const auto at = static_cast<float>(position(call, axis, batch, token));
        for (std::size_t p = 0; p < pairs; ++p) {
          const float angle = at * theta[p];
          all.cos.push_back(std::cos(angle));
          all.sin.push_back(std::sin(angle));
        }
      }
    }
  }
  const std::size_t plane = all.cos.size() / static_cast<std::size_t>(axes);
  Planes result{std::vector<float>(plane), std::vector<float>(plane)};
  for (std::size_t i = 0; i < plane; ++i) {
    const std::size_t axis = call.axis != nullptr && axes > 1 ? static_cast<std::size_t>(call.axis[i % pairs]) : 0;
    const std::size_t from = axis * plane + i;
    result.cos[i] = all.cos[from];
    result.sin[i] = all.sin[from];
  }
  return result;
}

void rotate(const rope_call& call, const Operand& x, const Planes& planes) {
  const std::int64_t pairs = call.rotary_dim / 2;
  const auto* in = static_cast<const float*>(x.in.data);
  auto* out = static_cast<float*>(x.out.data);
  for (std::int64_t token = 0; token < x.batches() * x.tokens(); ++token) {
    const float* cos = planes.cos.data() + token * pairs;
    const float* sin = planes.sin.data() + token * pairs;
    for (std::int64_t head = 0; head < x.heads(); ++head, in += x.head_dim(), out += x.head_dim()) {
      for (std::int64_t p = 0; p < pairs; ++p) {
        const auto [first, second] = pair_at(call, p);
        out[first] = in[first] * cos[p] - in[second] * sin[p];
        out[second] = in[second] * cos[p] + in[first] * sin[p];
      }
      std::copy(in + call.rotary_dim, in + x.head_dim(), out + call.rotary_dim);
    }
  }
}

void run(const rope_call& call) {
  const Planes planes = merged(call);
  rotate(call, query(call), planes);
  if (call.k.data != nullptr) rotate(call, key(call), planes);
}

rope_kernel axes(const char* name) { return kernel<run, claims>(name, "positions on several axes, theta given"); }

}  // namespace

Kernels axes_kernels() {
  static const rope_kernel all[] = {
      axes("axes"),
  };
  return all;
}

}  // namespace rope::designs
