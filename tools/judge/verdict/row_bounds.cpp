#include "tools/judge/verdict/row_bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "reference/clones.hpp"

namespace rope {
namespace {

// Of each pair the larger error, and the norm of the input. The result counts the pairs of which these are not known.
// It counts, because compilers do not vectorise loops that may end early.
ROPE_CLONES
std::uint64_t errors_and_norms(std::size_t pairs, const double* __restrict a, const double* __restrict b,
                                const double* __restrict first, const double* __restrict second,
                                const ExactPair* __restrict exact, double* __restrict error,
                                double* __restrict norm) {
  std::uint64_t left = 0;
  for (std::size_t p = 0; p < pairs; ++p) {
    const double of_first = std::fabs((first[p] - exact[p].first.hi) - exact[p].first.lo);
    const double of_second = std::fabs((second[p] - exact[p].second.hi) - exact[p].second.lo);
    error[p] = of_first > of_second ? of_first : of_second;
    left += of_first == of_first ? 0 : 1;  // a NaN; one in the second error stays in error[p]
    const double x = std::fabs(a[p]), y = std::fabs(b[p]);
    const double largest = x > y ? x : y;
    left += largest == 0 || (largest > 0x1p-400 && largest < 0x1p400) ? 0 : 1;
    norm[p] = std::sqrt(a[p] * a[p] + b[p] * b[p]);
  }
  return left;
}

ROPE_CLONES
void multiply(std::size_t pairs, const double* __restrict factor, double* __restrict values) {
  for (std::size_t p = 0; p < pairs; ++p) values[p] *= factor[p];
}

ROPE_CLONES
void multiply(std::size_t pairs, double factor, double* __restrict values) {
  for (std::size_t p = 0; p < pairs; ++p) values[p] *= factor;
}

using PerArithmetic = std::array<double, arithmetic_grades>;

// How many errors are not within use * bound, for the arithmetic grades of one angle grade.
ROPE_CLONES
std::uint64_t beyond(std::size_t pairs, const double* __restrict error, const double* __restrict scale,
                     const double* __restrict angle_term, const PerArithmetic& arithmetic, const PerArithmetic& tiny,
                     const PerArithmetic& use) {
  std::uint64_t count = 0;
  for (std::size_t p = 0; p < pairs; ++p) {
    for (std::size_t w = 0; w < arithmetic_grades; ++w) {
      count += error[p] <= use[w] * (scale[p] * (angle_term[p] + arithmetic[w]) + tiny[w]) ? 0 : 1;
    }
  }
  return count;
}

}  // namespace

bool is_within(RotatedRow& row, const RowBounds& bounds, const PerGrade<double>& use_by_grade, Grade required,
               double use) {
  const std::size_t pairs = row.a.size();
  double* const error = row.error.data();
  double* const scale = row.scale.data();
  const std::uint64_t unknown = errors_and_norms(pairs, row.a.data(), row.b.data(), row.first.data(),
                                                 row.second.data(), row.exact.data(), error, scale);
  if (unknown != 0) return false;
  if (!bounds.gain.empty()) multiply(pairs, bounds.gain.data(), scale);
  multiply(pairs, bounds.lambda_size, scale);
  PerGrade<double> uses = use_by_grade;
  double& deciding = uses[static_cast<std::size_t>(required.angle)][static_cast<std::size_t>(required.arithmetic)];
  deciding = std::min({deciding, use, 1.0});
  for (std::size_t a = 0; a < angle_grades; ++a) {
    if (beyond(pairs, error, scale, bounds.angle_terms[a].data(), bounds.arithmetic, bounds.tiny, uses[a]) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace rope
