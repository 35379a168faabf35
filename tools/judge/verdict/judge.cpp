#include "tools/judge/verdict/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>

#include "tools/judge/case/build_call.hpp"

namespace rope {
namespace {

std::uint64_t bits_of(DType dtype, const std::byte* element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, size_of(dtype));
  return bits;
}

// The features of one row, with any stride.
class Row {
 public:
  explicit Row(const Tensor& tensor)
      : dtype_(tensor.dtype), stride_(tensor.strides[3]), values_(static_cast<std::size_t>(tensor.shape[3])) {}

  void read(const Tensor& tensor, const RowIndex& index) {
    data_ = row_data(tensor, index);
    load(dtype_, data_, stride_, values_.size(), values_.data());
  }
  double value(int feature) const { return values_[static_cast<std::size_t>(feature)]; }
  std::uint64_t bits(int feature) const {
    return bits_of(dtype_, data_ + feature * stride_ * static_cast<std::int64_t>(size_of(dtype_)));
  }

 private:
  DType dtype_;
  std::int64_t stride_;
  const std::byte* data_ = nullptr;
  std::vector<double> values_;
};

class TensorJudge {
 public:
  TensorJudge(const std::string& name, const Tensor& input, const Tensor& output, Expectation& expectation,
              UseHistogram* histogram)
      : name_(name),
        input_(input),
        output_(output),
        expectation_(expectation),
        histogram_(histogram),
        required_(expectation.required()),
        x_(input),
        y_(output),
        row_(expectation.pairs()) {}

  // All heads of a token.
  void judge(std::int64_t batch, std::int64_t seq, const std::vector<PairAngle>& angles) {
    for (std::int64_t h = 0; h < input_.shape[2]; ++h) {
      if (h >= repeated_rows && repeats({batch, seq, h}, {batch, seq, h - repeated_rows})) {
        count_row();
      } else {
        judge_row({batch, seq, h}, angles);
      }
    }
  }

  // After the last token.
  Finding finding() const {
    Finding result = finding_;
    if (result.kind == FailureKind::value && output_.poison == result.element->actual_bits) {
      result.kind = FailureKind::unwritten;
    }
    return result;
  }

 private:
  struct Pair {
    std::size_t index;
    const PairAngle& angle;
    const Row& input;
    int first, second;  // features
    double reach;       // the error model's r
  };

  // Whether the row is the earlier one of the same token once more, and all rows so far were right. Then it is, too.
  bool repeats(const RowIndex& index, const RowIndex& earlier) const {
    if (histogram_ != nullptr || finding_.wrong > 0) return false;
    const auto is_same = [&](const Tensor& t) {
      const std::size_t size = static_cast<std::size_t>(t.shape[3]) * size_of(t.dtype);
      return t.strides[3] == 1 && std::memcmp(row_data(t, index), row_data(t, earlier), size) == 0;
    };
    return is_same(input_) && is_same(output_);
  }

  void count_row() {
    finding_.compared += input_.shape[3];
    finding_.graded += static_cast<std::int64_t>(2 * expectation_.pairs());
  }

  void judge_row(const RowIndex& index, const std::vector<PairAngle>& angles) {
    Row& x = x_;
    Row& y = y_;
    x.read(input_, index);
    y.read(output_, index);
    for (std::size_t p = 0; p < angles.size(); ++p) {
      row_.a[p] = x.value(expectation_.first(p));
      row_.b[p] = x.value(expectation_.second(p));
      row_.first[p] = y.value(expectation_.first(p));
      row_.second[p] = y.value(expectation_.second(p));
    }
    rotate_exact(row_.a, row_.b, angles, expectation_.lambda(), expectation_.backward(), row_.exact);
    const auto elements = static_cast<std::int64_t>(2 * angles.size());
    finding_.compared += elements;
    finding_.graded += elements;
    // Nearly every row ends here.
    const bool is_unremarkable =
        finding_.element &&
        is_within(row_, expectation_.row_bounds(), finding_.use_by_grade, required_, finding_.use);
    if (is_unremarkable && histogram_ != nullptr) histogram_->add(row_, expectation_.row_bounds(), required_);
    for (std::size_t p = 0; p < angles.size() && !is_unremarkable; ++p) {
      const int first = expectation_.first(p);
      const int second = expectation_.second(p);
      const double reach = expectation_.reach(row_.a[p], row_.b[p], p);
      const PerGrade<double> bounds = expectation_.bounds(p, reach);
      const Pair pair{p, angles[p], x, first, second, reach};
      if (!std::isfinite(row_.a[p]) || !std::isfinite(row_.b[p])) {
        compare_special(index, pair, y);
        continue;
      }
      const double of_first = compare(index, first, pair, false, row_.exact[p].first, y, bounds);
      const double of_second = compare(index, second, pair, true, row_.exact[p].second, y, bounds);
      if (histogram_ != nullptr) histogram_->add(std::max(of_first, of_second));
    }
    for (int j = 0; elements < input_.shape[3] && j < input_.shape[3]; ++j) {
      if (!expectation_.turns(j)) compare_copy(index, j, x, y);
    }
  }

  // The element's error in units of the deciding bound.
  double compare(const RowIndex& index, int feature, const Pair& pair, bool of_second, DoubleDouble exact, const Row& y,
                 const PerGrade<double>& bounds) {
    const double actual = y.value(feature);
    const double bound =
        bounds[static_cast<std::size_t>(required_.angle)][static_cast<std::size_t>(required_.arithmetic)];
    check_bound(bound, pair);
    const bool is_right = overflows(exact.hi, bound, actual) || may_be_lost(exact.hi, bound, pair, actual);
    const double error = is_right ? 0 : std::fabs((actual - exact.hi) - exact.lo);
    const double use = error <= bound ? (bound == 0 ? 0 : error / bound) : beyond(error, bound);
    for (std::size_t g = 0; g < angle_grades; ++g) {
      for (std::size_t w = 0; w < arithmetic_grades; ++w) {
        const double limit = bounds[g][w];
        const double used = error <= limit ? (limit == 0 ? 0 : error / limit) : beyond(error, limit);
        if (used > finding_.use_by_grade[g][w]) finding_.use_by_grade[g][w] = used;
      }
    }
    if (!note(use, index, feature, pair.index, exact.hi, y, error, bound)) return use;
    Element& e = *finding_.element;
    e.phi = pair.angle.phi;
    e.rotation = Rotation{expectation_.source(),
                          input_.dtype,
                          {pair.input.bits(pair.first), pair.input.bits(pair.second)},
                          pair.angle,
                          expectation_.given(),
                          expectation_.theta(pair.index),
                          expectation_.lambda(),
                          expectation_.backward(),
                          of_second};
    return use;
  }

  // A pair that holds a NaN or an infinity shows it in both features, as SPC-01 asks. Where the angle leaves a feature
  // out of the sum, a kernel may leave it out, too.
  void compare_special(const RowIndex& index, const Pair& pair, const Row& y) {
    const double a = row_.a[pair.index], b = row_.b[pair.index];
    const double shown = std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN()
                                                        : std::numeric_limits<double>::infinity();
    const auto is_zero = [](DoubleDouble x) { return x.hi == 0; };
    const PairAngle& t = pair.angle;
    const bool leaves_out =
        is_zero(t.cos_first) || is_zero(t.sin_first) || is_zero(t.cos_second) || is_zero(t.sin_second);
    for (const int feature : {pair.first, pair.second}) {
      const double actual = y.value(feature);
      const bool shows = std::isnan(shown) ? std::isnan(actual) : !std::isfinite(actual);
      const double use = shows || leaves_out ? 0 : std::numeric_limits<double>::infinity();
      note(use, index, feature, pair.index, shown, y, std::fabs(actual - shown), 0);
      if (histogram_ != nullptr && feature == pair.first) histogram_->add(use);
    }
  }

  // Infinite for a NaN or if nothing is allowed, and always above 1.
  static double beyond(double error, double bound) {
    const double use = error / bound;
    return use > 1 ? use : std::numeric_limits<double>::infinity();
  }

  // Bit for bit if input and output have one type; the same value if the output is wider; else rounded.
  void compare_copy(const RowIndex& index, int feature, const Row& x, const Row& y) {
    ++finding_.compared;
    const bool same = input_.dtype == output_.dtype ? x.bits(feature) == y.bits(feature)
                                                    : same_value(x.value(feature), y.value(feature));
    const double error = std::fabs(y.value(feature) - x.value(feature));
    const double bound = expectation_.copy_bound(x.value(feature));
    const bool rounded = bound > 0 && (error <= bound || overflows(x.value(feature), bound, y.value(feature)));
    if (same || rounded) {
      note(0, index, feature, std::nullopt, x.value(feature), y, error, 0);
    } else {
      note(std::numeric_limits<double>::infinity(), index, feature, std::nullopt, x.value(feature), y, error, bound);
    }
  }

  // A value too large for the output's type may become infinite.
  bool overflows(double x, double bound, double y) const {
    return std::isinf(y) && std::signbit(x) == std::signbit(y) && std::fabs(x) + bound > largest_finite(output_.dtype);
  }

  // No number, because a product on the way to it was too large. An infinity of the wrong sign cannot come from
  // products whose sum is too large itself.
  bool may_be_lost(double exact, double bound, const Pair& pair, double y) const {
    if (!expectation_.may_overflow(pair.reach, bound)) return false;
    if (!std::isfinite(exact) && std::isfinite(pair.reach)) return true;  // no double holds the exact result
    if (std::isfinite(y)) return false;
    return std::isnan(y) || std::signbit(y) == std::signbit(exact) ||
           std::fabs(exact) - bound <= largest_finite(output_.dtype);
  }

  // A verdict by such a bound would be a verdict on us.
  static void check_bound(double bound, const Pair& pair) {
    if (!std::isnan(bound) || !std::isfinite(pair.reach)) return;
    throw std::logic_error(fmt::format("the bound of pair {} is NaN, for a pair of norm {} and an angle of {} radians",
                                       pair.index, pair.reach, pair.angle.phi));
  }

  static bool same_value(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

  // True if the element is the worst so far.
  bool note(double use, const RowIndex& index, int feature, std::optional<std::size_t> pair, double expected,
            const Row& y, double error, double bound) {
    if (use > 1) {
      ++finding_.wrong;
      finding_.kind = FailureKind::value;
    }
    if (finding_.element && use <= finding_.use) return false;
    finding_.use = use;
    Element e;
    e.tensor = name_;
    e.row = index;
    e.feature = feature;
    e.pair = pair;
    e.position = expectation_.position(pair.value_or(0));
    e.expected = expected;
    e.actual = y.value(feature);
    e.actual_bits = y.bits(feature);
    e.dtype = output_.dtype;
    e.error = error;
    e.bound = bound;
    finding_.element = e;
    return true;
  }

  const std::string& name_;
  const Tensor& input_;
  const Tensor& output_;
  Expectation& expectation_;
  UseHistogram* const histogram_;  // may be null
  const Grade required_;
  Finding finding_;
  Row x_, y_;
  RotatedRow row_;
};

// The tensors are rotated alike, so each token's angles are made once for all of them.
void judge_tokens(std::span<TensorJudge* const> judges, const Tensor& first, Expectation& expectation) {
  for (std::int64_t b = 0; b < first.shape[0]; ++b) {
    for (std::int64_t s = 0; s < first.shape[1]; ++s) {
      const std::vector<PairAngle>& angles = expectation.angles(b, s);
      for (TensorJudge* judge : judges) judge->judge(b, s, angles);
    }
  }
}

}  // namespace

Finding judge_tensor(const std::string& tensor_name, const Tensor& input, const Tensor& output,
                     Expectation& expectation, UseHistogram* histogram) {
  TensorJudge judge(tensor_name, input, output, expectation, histogram);
  TensorJudge* const one[] = {&judge};
  judge_tokens(one, input, expectation);
  return judge.finding();
}

Finding judge_call(const Call& after, const Tensor& q, const std::optional<Tensor>& k, Expectation& expectation,
                   UseHistogram* histogram) {
  if (!k) return judge_tensor("q", q, after.q_result(), expectation, histogram);
  const std::string name_of_q = "q", name_of_k = "k";
  TensorJudge of_q(name_of_q, q, after.q_result(), expectation, histogram);
  TensorJudge of_k(name_of_k, *k, after.k_result(), expectation, histogram);
  TensorJudge* const both[] = {&of_q, &of_k};
  judge_tokens(both, q, expectation);
  Finding finding = of_q.finding();
  finding.merge(of_k.finding());
  return finding;
}

}  // namespace rope
