// Relations between results of several calls, within the bounds of each. They hold for every right kernel and need no
// exact angles, so they would catch a mistake of the oracle too.
#pragma once

#include "tools/judge/verdict/expectation.hpp"
#include "tools/judge/verdict/trial.hpp"

namespace rope {

// One feature row of an output as doubles, with the bound of each pair and its input's norm.
struct RelatedRow {
  std::vector<double> value;       // head_dim
  std::vector<double> pair_bound;  // of each element of the pair
  std::vector<double> pair_norm;   // of the input, times |lambda|
  std::vector<double> norm_bound;  // of the output pair's norm: no angle changes it, so no error of the angle counts
  // Whether an element of the pair is infinite or NaN, and may be (Expectation::may_overflow). Then no relation holds of
  // it; whether it is right is another requirement's question.
  std::vector<bool> lost;
  bool has_lost = false;  // some pair
};

// A trial's row, with the deciding bounds. If tables are given, the bounds include the rounding of the tables, because
// a relation between rotations holds only for exact cosines.
RelatedRow related_row(const Trial& trial, const Tensor& input, const Tensor& output, const RowIndex& row,
                       Expectation& expectation);

// Checks a relation at an element: |actual - expected| <= bound. Equal infinities are equal. Throws std::logic_error if
// the bound of two numbers is none. A bound above 0 grows by the error of computing both
// sides in double.
void relate(Finding& finding, const char* tensor, const RowIndex& row, std::int64_t feature,
            std::optional<std::size_t> pair, double expected, double actual, double bound,
            Compared what = Compared::element);

// Checks that the pairs of two rows are equal, within the sum of their bounds.
void relate_pairs(Finding& finding, const char* tensor, const RowIndex& row, const Expectation& expectation,
                  const RelatedRow& expected, const RelatedRow& actual);

// Checks that a row of one output holds the same bits as a row of another.
void same_row(Finding& finding, const char* tensor, const Tensor& first, const RowIndex& row, const Tensor& again,
              const RowIndex& other);

// Checks that two trials of the same call hold the same bits in every element of their outputs.
Finding same_bits(const Trial& first, const Trial& again);

}  // namespace rope
