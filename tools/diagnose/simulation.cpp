#include "tools/diagnose/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace rope::diagnosis {
namespace {

// A predicted rounding may fall to the other side of a boundary, because the kernel's own error moves the value first.
// It moves by u(f32), while boundaries are u(f16) apart or more. That affects 2^-13 of the elements, or a few times as
// many with three operations.
constexpr std::size_t elements_for_a_slip = 32;

double capped(double actual, double expected, double size) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) == std::isnan(expected) ? 0 : 1;
  return size == 0 ? 0 : std::min(std::fabs(actual - expected) / size, 1.0);
}

// Compares one observed row with a hypothesis's prediction.
class RowComparison {
 public:
  RowComparison(const Observation& seen, const Prediction& said, std::size_t row)
      : seen_(seen),
        said_(said),
        begin_(row * static_cast<std::size_t>(seen.head_dim)),
        end_(begin_ + static_cast<std::size_t>(seen.head_dim)),
        is_wrong_(seen.wrong[row] != 0) {}

  RowCount count() const {
    RowCount result;
    const std::size_t slips = unlike(), most_slips = (end_ - begin_) / elements_for_a_slip;
    result.agrees = slips <= most_slips;
    if (!is_wrong_) return result;
    result.said = share_said();
    // A slip excuses no row in which only one element is wrong.
    const auto is_excused = [&](std::size_t count) { return count == 0 || count_wrong() > 2 * count; };
    if (!is_excused(slips)) result.agrees = false;
    const std::size_t unlike_wrong = unlike_where_wrong();
    result.in_part = !result.agrees && unlike_wrong <= most_slips && is_excused(unlike_wrong);
    return result;
  }

  void add_errors(Simulated& result) const {
    if (!is_wrong_) return;
    const double size = largest();
    for (std::size_t i = begin_; i < end_; ++i) {
      result.error += std::isinf(said_.bound[i]) ? 1 : capped(seen_.actual[i], said_.value[i], size);
      result.before += capped(seen_.actual[i], seen_.right.value[i], size);
    }
  }

 private:
  std::size_t unlike() const {
    std::size_t count = 0;
    for (std::size_t i = begin_; i < end_; ++i) count += agrees(seen_, said_, i) ? 0 : 1;
    return count;
  }

  std::size_t unlike_where_wrong() const {
    std::size_t count = 0;
    for (std::size_t i = begin_; i < end_; ++i) {
      count += seen_.wrong_elements[i] != 0 && !agrees(seen_, said_, i) ? 1 : 0;
    }
    return count;
  }

  std::size_t count_wrong() const {
    std::size_t count = 0;
    for (std::size_t i = begin_; i < end_; ++i) count += seen_.wrong_elements[i] != 0 ? 1 : 0;
    return count;
  }

  double largest() const {
    double size = 0;
    for (std::size_t i = begin_; i < end_; ++i) {
      if (std::isfinite(seen_.right.value[i])) size = std::max(size, std::fabs(seen_.right.value[i]));
    }
    return size;
  }

  double share_said() const {
    double wrong = 0, said_of = 0;
    for (std::size_t i = begin_; i < end_; ++i) {
      if (seen_.wrong_elements[i] == 0) continue;
      ++wrong;
      said_of += std::isinf(said_.bound[i]) ? 0 : 1;
    }
    return wrong > 0 ? said_of / wrong : 1;
  }

  const Observation& seen_;
  const Prediction& said_;
  std::size_t begin_, end_;  // elements
  bool is_wrong_;
};

// Elements of which a condition does not hold are as specified.
void restrict_to_elements(const Condition& condition, const Observation& seen, Prediction& said) {
  const auto holds = predicates_of(elements_of(condition));
  if (holds.empty()) return;
  for (std::size_t i = 0; i < said.value.size(); ++i) {
    const auto [row, feature] = std::div(static_cast<std::int64_t>(i), seen.head_dim);
    const SeenRow element{&seen, static_cast<std::size_t>(row), 1, false, static_cast<int>(feature)};
    if (std::ranges::all_of(holds, [&](const auto& one) { return one(element); })) continue;
    said.value[i] = seen.right.value[i];
    said.bound[i] = seen.right.bound[i];
    said.written[i] = seen.right.written[i];
  }
}

}  // namespace

Simulated simulate(const Observation& seen, const Change& change, const Condition& condition) {
  Simulated result;
  Prediction& said = result.said;
  said = seen.model->predict(change);
  if (seen.answered()) restrict_to_elements(condition, seen, said);
  result.outside = said.outside;
  result.gaps = said.gaps;
  if (!seen.answered()) {
    result.rows.resize(seen.rows.size());
    result.before = result.error = 1;
    return result;
  }
  for (std::size_t r = 0; r < seen.rows.size(); ++r) {
    const RowComparison row(seen, said, r);
    result.rows.push_back(row.count());
    row.add_errors(result);
  }
  return result;
}

double share_of_end(const Observation& seen, const Simulated& simulated) {
  if (seen.answered()) return simulated.gaps ? 1 : 0;
  const std::optional<OutsideAccess>& was = seen.problem.access;
  if (!simulated.outside || !was) return 0;
  if (was->tensor != simulated.outside->tensor || was->write != simulated.outside->write) return 0;
  std::int64_t element = simulated.outside->element;
  if (was->by_row)
    element = static_cast<std::int64_t>(
        std::floor(static_cast<double>(element) / static_cast<double>(seen.before.cos->strides[0])));
  return was->element == element ? 1 : 0.2;
}

}  // namespace rope::diagnosis
