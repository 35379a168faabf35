// The errors of a whole row, tested at once: nearly every row changes nothing of what a check has found so far.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "reference/error_model.hpp"
#include "reference/oracle.hpp"

namespace rope {

// One value for each pair of grades, [angle][arithmetic].
template <class T>
using PerGrade = std::array<std::array<T, arithmetic_grades>, angle_grades>;

// What the bounds of a row are made of. For an element of pair p, whose input has the norm n:
//   bound[angle][w] = lambda_size * gain[p] * n * (angle_terms[angle][p] + arithmetic[w]) + tiny[w]
struct RowBounds {
  std::array<std::vector<double>, angle_grades> angle_terms;
  std::vector<double> gain;  // one per pair; empty: all 1
  double lambda_size = 1;
  std::array<double, arithmetic_grades> arithmetic{}, tiny{};
};

// The rotated elements of a row before and after the call, and the exact result; one entry per pair.
struct RotatedRow {
  std::vector<double> a, b, first, second;
  std::vector<ExactPair> exact;

  explicit RotatedRow(std::size_t pairs)
      : a(pairs), b(pairs), first(pairs), second(pairs), exact(pairs), error(pairs), scale(pairs) {}

  std::vector<double> error, scale;  // of is_within, which finds them here in the next row
};

// Whether all errors of the row are within `use_by_grade` times the bounds of each grade, and within the required
// grade's bound and `use` times it. False for a NaN, and where a norm takes more than a square root.
bool is_within(RotatedRow& row, const RowBounds& bounds, const PerGrade<double>& use_by_grade, Grade required,
               double use);

}  // namespace rope
