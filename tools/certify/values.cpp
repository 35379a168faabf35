#include "tools/certify/values.hpp"

#include <cmath>

#include "tools/certify/positions.hpp"
#include "tools/certify/ways.hpp"
#include "tools/judge/call/tensor_walk.hpp"

namespace rope::certify {
namespace {

constexpr int value_head_dim = 32;
constexpr std::int64_t all_values = 65536;
constexpr std::int64_t values_of_block = 8192;

double smallest_normal(DType dtype) { return smallest_subnormal(dtype) / unit_roundoff(dtype) / 2; }

}  // namespace

void propose_values(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps) {
  if (request.claims.capabilities.max_position < all_values) return;
  for (const Case& way : ways(request, selection, value_head_dim)) {
    if (size_of(way.dtype) != 2 || (!selection.spec && way.spec.scaling.index() != 0)) continue;
    for (const InputKind input : {InputKind::counted_first, InputKind::counted_second}) {
      Sweep sweep{"values", input == InputKind::counted_first ? "value of first" : "value of second", way, all_values,
                  values_of_block};
      sweep.base.input = input;
      sweep.base.sequence_length = all_values;
      if (can_begin_anywhere(sweep.base, request.claims) && has_any(sweep, request.claims)) sweeps.push_back(sweep);
    }
  }
}

Tensor without_flushed(const Tensor& input, Tensor output, Expectation& expected) {
  const double normal = smallest_normal(input.dtype), normal_result = smallest_normal(output.dtype);
  for_each_row(input, [&](const RowIndex& row, const std::byte*) {
    const std::vector<PairAngle>& angles = expected.angles(row.batch, row.seq);
    for (std::size_t p = 0; p < angles.size(); ++p) {
      const double a = value_at(input, row, expected.first(p)), b = value_at(input, row, expected.second(p));
      const bool has_no_normal = std::fabs(a) < normal && std::fabs(b) < normal;
      const ExactPair exact = rotate_exact(a, b, angles[p], expected.lambda(), expected.backward());
      const auto mend = [&](int feature, double value) {
        if (!(has_no_normal || std::fabs(value) < normal_result)) return;
        std::byte* const at = row_data(output, row) + feature * feature_step(output);
        if (load(output.dtype, at) == 0) store(output.dtype, at, value);
      };
      mend(expected.first(p), exact.first.hi);
      mend(expected.second(p), exact.second.hi);
    }
  });
  return output;
}

}  // namespace rope::certify
