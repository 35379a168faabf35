// Positions on several axes: first the cosines and sines of every axis, [axis][batch][token][pair]. They are then
// merged into one plane by the axis of each pair.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/kernels/styles/kernel.hpp"

namespace rope::styles {
namespace {

enum class Bug {
  none,
  sections_in_order,
  height_and_width_exchanged,
  theta_restarts,
  grid_of_first_batch,
  one_token_first_axis,
  key_first_axis,
  grid_in_8_bits,
};

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

template <Bug bug>
std::int64_t position(const rope_call& call, std::int64_t axis, std::int64_t batch, std::int64_t token) {
  if (call.positions.data == nullptr) return call.positions.offset + token;
  if (bug == Bug::one_token_first_axis && call.q.shape[1] == 1) axis = 0;
  if (bug == Bug::grid_of_first_batch && axis > 0) batch = 0;
  const std::int64_t position = given_position(call.positions, axis, batch, token);
  return bug == Bug::grid_in_8_bits && axis > 0 ? position % 256 : position;
}

// The axis and the column of theta of each pair.
struct Choice {
  std::vector<std::size_t> axis, column;
};

template <Bug bug>
Choice choose(const rope_call& call, std::size_t axes, bool key) {
  const auto pairs = static_cast<std::size_t>(call.rotary_dim / 2);
  Choice choice{std::vector<std::size_t>(pairs), std::vector<std::size_t>(pairs)};
  std::vector<std::size_t> counts(axes);
  for (std::size_t p = 0; p < pairs; ++p) {
    if (call.axis != nullptr && axes > 1) choice.axis[p] = static_cast<std::size_t>(call.axis[p]);
    std::size_t& count = counts[choice.axis[p]];
    choice.column[p] = bug == Bug::theta_restarts ? count : p;
    ++count;
  }
  if constexpr (bug == Bug::sections_in_order) std::sort(choice.axis.begin(), choice.axis.end());
  if (bug == Bug::height_and_width_exchanged && axes == 3) {
    for (std::size_t& axis : choice.axis) axis = axis == 0 ? 0 : 3 - axis;
  }
  if (bug == Bug::key_first_axis && key) std::fill(choice.axis.begin(), choice.axis.end(), 0);
  return choice;
}

template <Bug bug>
Planes merged(const rope_call& call, bool key) {
  const std::int64_t axes = call.positions.data == nullptr ? 1 : std::max(call.positions.axes, 1);
  const Choice choice = choose<bug>(call, static_cast<std::size_t>(axes), key);
  const std::size_t pairs = choice.axis.size();
  const auto* theta = static_cast<const float*>(call.theta);
  Planes all;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    for (std::int64_t batch = 0; batch < call.q.shape[0]; ++batch) {
      for (std::int64_t token = 0; token < call.q.shape[1]; ++token) {
        const auto at = static_cast<float>(position<bug>(call, axis, batch, token));
        for (const std::size_t column : choice.column) {
          const float angle = at * theta[column];
          all.cos.push_back(std::cos(angle));
          all.sin.push_back(std::sin(angle));
        }
      }
    }
  }
  const std::size_t plane = all.cos.size() / static_cast<std::size_t>(axes);
  Planes result{std::vector<float>(plane), std::vector<float>(plane)};
  for (std::size_t i = 0; i < plane; ++i) {
    const std::size_t from = choice.axis[i % pairs] * plane + i;
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

template <Bug bug>
void run(const rope_call& call) {
  rotate(call, query(call), merged<bug>(call, false));
  if (call.k.data != nullptr) rotate(call, key(call), merged<bug>(call, true));
}

template <Bug bug = Bug::none>
rope_kernel axes(const char* name) {
  return kernel<run<bug>, claims>(name, "positions on several axes, theta given");
}

}  // namespace

Kernels axes_kernels() {
  static const rope_kernel all[] = {
      axes("axes"),
      axes<Bug::sections_in_order>("axes/sections-contiguous"),
      axes<Bug::height_and_width_exchanged>("axes/height-width-exchanged"),
      axes<Bug::theta_restarts>("axes/theta-restarts-by-axis"),
      axes<Bug::grid_of_first_batch>("axes/grid-of-first-batch"),
      axes<Bug::one_token_first_axis>("axes/decode-first-axis"),
      axes<Bug::key_first_axis>("axes/k-first-axis"),
      axes<Bug::grid_in_8_bits>("axes/grid-position-8-bit"),
  };
  return all;
}

}  // namespace rope::styles
