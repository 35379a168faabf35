#include "tests/conformance/judge.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/conformance/build_call.hpp"

namespace rope {
namespace {

std::uint64_t bits_of(DType dtype, const std::byte* element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, size_of(dtype));
  return bits;
}

// Reads the features of one row, wherever they stand.
class Row {
 public:
  Row(const Tensor& tensor, const RowIndex& index)
      : dtype_(tensor.dtype), data_(row_data(tensor, index)), stride_(tensor.strides[3]) {}

  const std::byte* element(int feature) const {
    return data_ + feature * stride_ * static_cast<std::int64_t>(size_of(dtype_));
  }
  double value(int feature) const { return load(dtype_, element(feature)); }
  std::uint64_t bits(int feature) const { return bits_of(dtype_, element(feature)); }

 private:
  DType dtype_;
  const std::byte* data_;
  std::int64_t stride_;
};

class TensorJudge {
 public:
  TensorJudge(const std::string& name, const Tensor& input, const Tensor& output, Expectation& expectation)
      : name_(name), input_(input), output_(output), expectation_(expectation) {}

  Finding judge() {
    for (std::int64_t b = 0; b < input_.shape[0]; ++b) {
      for (std::int64_t s = 0; s < input_.shape[1]; ++s) {
        const std::vector<PairAngle>& angles = expectation_.angles(b, s);
        for (std::int64_t h = 0; h < input_.shape[2]; ++h) judge_row({b, s, h}, angles);
      }
    }
    return finding_;
  }

 private:
  void judge_row(const RowIndex& index, const std::vector<PairAngle>& angles) {
    const Row x(input_, index);
    const Row y(output_, index);
    for (std::size_t p = 0; p < angles.size(); ++p) {
      const int first = expectation_.first(p);
      const int second = expectation_.second(p);
      const double a = x.value(first);
      const double b = x.value(second);
      const ExactPair exact = rotate_exact(a, b, angles[p], expectation_.lambda(), expectation_.backward());
      const double r = expectation_.reach(a, b, angles[p]);
      const PerGrade<double> bounds = expectation_.bounds(p, angles[p].phi, r);
      compare(index, first, p, exact.first, y, bounds, angles[p].phi);
      compare(index, second, p, exact.second, y, bounds, angles[p].phi);
    }
    for (auto j = static_cast<int>(2 * angles.size()); j < input_.shape[3]; ++j) compare_copy(index, j, x, y);
  }

  void compare(const RowIndex& index, int feature, std::size_t pair, DoubleDouble exact, const Row& y,
               const PerGrade<double>& bounds, double phi) {
    ++finding_.compared;
    const double actual = y.value(feature);
    const double error = std::fabs((actual - exact.hi) - exact.lo);
    const double bound = bounds.back().back();
    const double use = error <= bound ? (bound == 0 ? 0 : error / bound) : beyond(error, bound);
    for (std::size_t g = 0; g < angle_grades; ++g) {
      for (std::size_t w = 0; w < arithmetic_grades; ++w) {
        const double limit = bounds[g][w];
        const double used = error <= limit ? (limit == 0 ? 0 : error / limit) : beyond(error, limit);
        if (used > finding_.use_by_grade[g][w]) finding_.use_by_grade[g][w] = used;
      }
    }
    note(use, index, feature, pair, exact.hi, y, error, bound, phi);
  }

  // Infinite for a NaN or where nothing is allowed, and always above 1.
  static double beyond(double error, double bound) {
    const double use = error / bound;
    return use > 1 ? use : std::numeric_limits<double>::infinity();
  }

  // Bit for bit where input and output are of one type; where the output is wider, the same value.
  void compare_copy(const RowIndex& index, int feature, const Row& x, const Row& y) {
    ++finding_.compared;
    const bool same =
        input_.dtype == output_.dtype ? x.bits(feature) == y.bits(feature) : x.value(feature) == y.value(feature);
    const double error = std::fabs(y.value(feature) - x.value(feature));
    note(same ? 0 : std::numeric_limits<double>::infinity(), index, feature, std::nullopt, x.value(feature), y, error,
         0, 0);
  }

  void note(double use, const RowIndex& index, int feature, std::optional<std::size_t> pair, double expected,
            const Row& y, double error, double bound, double phi) {
    if (use > 1) {
      ++finding_.wrong;
      finding_.kind = FailureKind::value;
    }
    if (finding_.element && use <= finding_.use) return;
    finding_.use = use;
    Element e;
    e.tensor = name_;
    e.row = index;
    e.feature = feature;
    e.pair = pair;
    e.position = expectation_.position(pair.value_or(0));
    e.phi = phi;
    e.expected = expected;
    e.actual = y.value(feature);
    e.actual_bits = y.bits(feature);
    e.dtype = output_.dtype;
    e.error = error;
    e.bound = bound;
    finding_.element = e;
  }

  const std::string& name_;
  const Tensor& input_;
  const Tensor& output_;
  Expectation& expectation_;
  Finding finding_;
};

}  // namespace

Finding judge_tensor(const std::string& tensor_name, const Tensor& input, const Tensor& output,
                     Expectation& expectation) {
  Finding finding = TensorJudge(tensor_name, input, output, expectation).judge();
  if (finding.kind == FailureKind::value && finding.element->actual_bits == poison(finding.element->dtype)) {
    finding.kind = FailureKind::unwritten;
  }
  return finding;
}

Finding judge_call(const Call& after, const Tensor& q, const std::optional<Tensor>& k, Expectation& expectation) {
  Finding finding = judge_tensor("q", q, after.q_result(), expectation);
  if (k) finding.merge(judge_tensor("k", *k, after.k_result(), expectation));
  return finding;
}

}  // namespace rope
