// The histogram of errors in units of the bound.
#include "tools/judge/verdict/use_histogram.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace rope {
namespace {

std::size_t bin_of(double use) {
  UseHistogram histogram;
  histogram.add(use);
  for (std::size_t i = 0; i < UseHistogram::bins; ++i) {
    if (histogram.counts()[i] == 1) return i;
  }
  return UseHistogram::bins;
}

TEST_CASE("histogram: a bin reaches from one power of two to the next; 1 is within, more is beyond") {
  CHECK(bin_of(0) == 0);
  CHECK(bin_of(std::ldexp(1, -11)) == 0);
  CHECK(bin_of(std::nextafter(std::ldexp(1, -10), 0)) == 0);
  CHECK(bin_of(std::ldexp(1, -10)) == 1);
  CHECK(bin_of(0.25) == 9);
  CHECK(bin_of(std::nextafter(0.5, 0)) == 9);
  CHECK(bin_of(0.5) == 10);
  CHECK(bin_of(1) == 10);
  CHECK(bin_of(std::nextafter(1, 2)) == 11);
  CHECK(bin_of(std::numeric_limits<double>::infinity()) == 11);
  CHECK(bin_of(std::nan("")) == 11);
}

TEST_CASE("histogram: a row counts each pair once, by the deciding bound") {
  RotatedRow row(3);
  row.error = {0, 0.3, 1};
  row.scale = {0, 1, 4};
  RowBounds bounds;
  for (auto& terms : bounds.angle_terms) terms.assign(3, 0);
  bounds.angle_terms[2] = {0, 0.5, 0};
  bounds.arithmetic = {0.1, 0.2, 0.25};
  UseHistogram histogram;
  histogram.add(row, bounds, {AngleGrade::C, ArithmeticGrade::three});
  UseHistogram::Counts expected{};
  expected[0] = 1;   // a bound of 0, and no error
  expected[9] = 1;   // 0.3 of 0.75
  expected[10] = 1;  // all of 1
  CHECK(histogram.counts() == expected);
}

}  // namespace
}  // namespace rope
