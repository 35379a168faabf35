#include "tools/vectors/exact_answer.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/verdict/expectation.hpp"

namespace rope::vectors {
namespace {

// Checks may change everything in a case but its axes: everything else is in the call itself.
RopeSpec spec_of(const Call& call, const Case& c, Oracles& oracles) {
  RopeSpec spec = c.spec;
  if (call.source != AngleSource::computed) return spec;
  spec.head_dim = static_cast<int>(call.q.shape[3]);
  spec.rotary_dim = call.rotary_dim;
  spec.rotary_offset = call.rotary_offset;
  spec.pairing = call.pairing;
  spec.base = call.base;
  spec.scaling = call.scaling;
  if (oracles.of(spec, call.sequence_length).plan().lambda != call.attention_factor) {
    spec.attention_factor = call.attention_factor;
  }
  if (call.axis) {
    const std::vector<int> axis = axis_of_pairs(spec);
    if (std::memcmp(axis.data(), call.axis->data(), axis.size() * sizeof(int)) != 0) {
      throw std::logic_error("a call of the case " + to_text(c) + " has other axes than the case");
    }
  }
  return spec;
}

// One NaN for all: its sign and payload depend on the processor.
double same_everywhere(double value) { return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value; }

ExactTensor answer_tensor(const Tensor& input, Tensor& output, Expectation& expectation) {
  const auto dim = static_cast<std::size_t>(input.shape[3]);
  const std::size_t in_size = size_of(input.dtype);
  const std::size_t pairs = expectation.pairs();
  ExactTensor exact;
  std::vector<double> x(dim), y(dim), bound(dim), a(pairs), b(pairs);
  std::vector<ExactPair> turned(pairs);
  for_each_row(input, [&](const RowIndex& row, const std::byte* data) {
    load(input.dtype, data, input.strides[3], dim, x.data());
    y = x;
    std::fill(bound.begin(), bound.end(), 0.0);
    const std::vector<PairAngle>& angles = expectation.angles(row.batch, row.seq);
    for (std::size_t p = 0; p < pairs; ++p) {
      a[p] = x[static_cast<std::size_t>(expectation.first(p))];
      b[p] = x[static_cast<std::size_t>(expectation.second(p))];
    }
    rotate_exact(a, b, angles, expectation.lambda(), expectation.backward(), turned);
    for (std::size_t p = 0; p < pairs; ++p) {
      const auto first = static_cast<std::size_t>(expectation.first(p));
      const auto second = static_cast<std::size_t>(expectation.second(p));
      y[first] = same_everywhere(turned[p].first.hi);
      y[second] = same_everywhere(turned[p].second.hi);
      bound[first] = bound[second] = expectation.bound(p, angles[p].phi, expectation.reach(a[p], b[p], p));
    }
    for (std::size_t j = 0; j < dim; ++j) {
      if (!expectation.turns(static_cast<std::int64_t>(j))) bound[j] = expectation.copy_bound(x[j]);
    }
    std::byte* out = row_data(output, row);
    store(output.dtype, out, output.strides[3], dim, y.data());
    // A copied NaN keeps its bits.
    for (std::int64_t feature = 0; feature < input.shape[3] && input.dtype == output.dtype; ++feature) {
      if (expectation.turns(feature)) continue;
      std::memcpy(out + feature * feature_step(output), data + feature * feature_step(input), in_size);
    }
    exact.value.insert(exact.value.end(), y.begin(), y.end());
    exact.bound.insert(exact.bound.end(), bound.begin(), bound.end());
  });
  return exact;
}

}  // namespace

ExactAnswer answer_exactly(Call& call, const Case& c, Oracles& oracles) {
  const RopeSpec spec = spec_of(call, c, oracles);
  Expectation expectation(call, spec, oracles);
  ExactAnswer answer;
  answer.q = answer_tensor(call.q, *call.q_out, expectation);
  if (call.k) answer.k = answer_tensor(*call.k, *call.k_out, expectation);
  return answer;
}

}  // namespace rope::vectors
