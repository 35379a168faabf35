// The angles of a call, from any source, as the rows of factors that a rotation loop multiplies by.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "impls/line_vector.hpp"
#include "impls/theta.hpp"

namespace rope {

// What turns one token, for each pair p (attention factor and direction are already in it):
//
//     y[first]  = x[first]  * cos_first[p]  - x[second] * sin_first[p]
//     y[second] = x[second] * cos_second[p] + x[first]  * sin_second[p]
//
// The rows of the two features are the same memory unless a full-width table is given.
template <class T>
struct Turns {
  const T* cos_first;
  const T* sin_first;
  const T* cos_second;
  const T* sin_second;
  int pairs;
};

// Rows of a call in the working type T (float or double), one token at a time; rotary_dim/2 columns each. Their NaNs
// are all the same quiet one (element.hpp says why).
//   `tables`       Converted to T, then multiplied by the attention factor in T unless that is 1.
//   `frequencies`  cos and sin of position * theta, in double for any T, multiplied by the attention factor, rounded.
//   `computed`     Likewise, with theta from the rules of reference/scaling.
// The call must have passed check_call and must outlive this.
template <class T>
class AngleRows {
 public:
  explicit AngleRows(const rope_call& call);

  // Whether all batches of the call have the same positions.
  bool shared_by_batches() const;

  // Valid until the next call of this function.
  Turns<T> at(std::int64_t batch, std::int64_t seq);

 private:
  // Neighbouring pairs that follow one position axis.
  struct Run {
    int begin;
    int end;
    int axis;
  };

  void read_tables(const Run& run, std::int64_t position);
  void compute(const Run& run, std::int64_t position);
  T* row(int index) { return rows_.data() + static_cast<std::size_t>(index) * row_size_; }

  const rope_call& call_;
  int pairs_;
  bool two_rows_;  // the features of a pair have their own columns
  std::vector<Run> runs_;
  Theta theta_;           // empty if tables are given
  std::size_t row_size_;  // elements; whole cache lines
  LineVector<T> rows_;    // cos_first, sin_first, cos_second, sin_second
};

extern template class AngleRows<float>;
extern template class AngleRows<double>;

}  // namespace rope
