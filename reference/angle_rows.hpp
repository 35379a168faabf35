// Rows of unit complex numbers cos + i sin, one per pair, as double-doubles, and their three products. The angle
// table's speed rests on these. A row is four arrays of `pairs` doubles, one after the other: cos.hi, sin.hi, cos.lo,
// sin.lo. So loops over pairs are contiguous. The loop in plain double touches only the first half of a row.
//
// The bounds are absolute and hold for each component; angle_table.cpp derives them.
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

// The product of two rows, rounded to float. It is computed in double; error[p] bounds the error of that. If two
// candidates remain for an entry, the entry is set to NaN. The function returns 0 if there is no such entry.
std::uint64_t rounded_product(const double* x, const double* y, std::size_t pairs, const double* error, float* cos,
                              float* sin);
// The same rounded to double, computed in double-double.
std::uint64_t rounded_product(const double* x, const double* y, std::size_t pairs, const double* error, double* cos,
                              double* sin);

// (high + low) * factor rounded to double, for each pair. NaN and the result mean the same as above. high is 0 or at
// least 2^-800. The relative error of high + low is at most 2^-106. The product is finite.
std::uint64_t rounded_multiple(const double* high, const double* low, std::size_t pairs, double factor, double* result);

}  // namespace rope
