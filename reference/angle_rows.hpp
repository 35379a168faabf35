// Rows of unit complex numbers cos + i sin, one a pair, as double-doubles, and the three products of rows on which the
// angle table's speed rests. A row is four arrays of `pairs` doubles, one after the other: cos.hi, sin.hi, cos.lo,
// sin.lo; so the loops over pairs are contiguous, and the one in plain double touches only the first half of a row.
//
// The bounds are absolute, hold for each component, and are derived in angle_table.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/exact_angle.hpp"

namespace rope {

inline constexpr std::size_t doubles_per_pair = 4;

void set_row(double* row, std::size_t pairs, std::size_t pair, const Angle& angle);
Angle get_row(const double* row, std::size_t pairs, std::size_t pair);

// e^(i a) e^(i b) = e^(i (a+b)), in double-double.
Angle product(const Angle& x, const Angle& y);
void product(const double* x, const double* y, std::size_t pairs, double* result);

// The product of two rows rounded to float. It is computed in double; error[p] bounds what that may cost. An entry for
// which this leaves two candidates is set to NaN; the result is 0 if there is none.
std::uint64_t rounded_product(const double* x, const double* y, std::size_t pairs, const double* error, float* cos,
                              float* sin);
// The same rounded to double, by way of double-double.
std::uint64_t rounded_product(const double* x, const double* y, std::size_t pairs, const double* error, double* cos,
                              double* sin);

// (high + low) * factor rounded to double, for each pair; likewise NaN and not 0 where that leaves two candidates. high
// is 0 or from 2^-800 on, high + low off by at most 2^-106 of it, and the product finite.
std::uint64_t rounded_multiple(const double* high, const double* low, std::size_t pairs, double factor, double* result);

}  // namespace rope
