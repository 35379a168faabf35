#include "reference/oracle.hpp"

#include <algorithm>
#include <cmath>

#include "reference/angle_rows.hpp"
#include "reference/clones.hpp"
#include "reference/norm.hpp"

namespace rope {
namespace {

std::vector<Real> thetas(const RotationPlan& plan) {
  std::vector<Real> theta;
  for (const RotatedPair& pair : plan.pairs) theta.push_back(pair.theta);
  return theta;
}

ROPE_INLINE DoubleDouble scaled(DoubleDouble value, double lambda) { return lambda == 1 ? value : value * lambda; }

ROPE_INLINE ExactPair rotated(double a, double b, const PairAngle& t, double lambda, bool backward) {
  if (backward) {
    return {scaled(t.cos_first * a + t.sin_second * b, lambda), scaled(t.cos_second * b - t.sin_first * a, lambda)};
  }
  return {scaled(t.cos_first * a - t.sin_first * b, lambda), scaled(t.cos_second * b + t.sin_second * a, lambda)};
}

}  // namespace

double PairAngle::gain(bool backward) const {
  const DoubleDouble& with_first = backward ? sin_second : sin_first;
  const DoubleDouble& with_second = backward ? sin_first : sin_second;
  const double first = norm_of(cos_first.hi, with_first.hi);
  if (cos_first.hi == cos_second.hi && with_first.hi == with_second.hi) return first;
  return std::max(first, norm_of(cos_second.hi, with_second.hi));
}

ExactPair rotate_exact(double a, double b, const PairAngle& angle, double lambda, bool backward) {
  return rotated(a, b, angle, lambda, backward);
}

ROPE_CLONES
void rotate_exact(std::span<const double> a, std::span<const double> b, std::span<const PairAngle> angles,
                  double lambda, bool backward, std::span<ExactPair> result) {
  for (std::size_t p = 0; p < angles.size(); ++p) result[p] = rotated(a[p], b[p], angles[p], lambda, backward);
}

Oracle::Oracle(RotationPlan plan) : plan_(std::move(plan)), table_(thetas(plan_)) {}

std::vector<PairAngle> Oracle::angles(std::span<const std::int64_t> position) {
  std::vector<PairAngle> result;
  angles(position, result);
  return result;
}

void Oracle::angles(std::span<const std::int64_t> position, std::vector<PairAngle>& result) {
  const std::size_t pairs = plan_.pairs.size();
  result.resize(pairs);
  phi_.resize(pairs);
  for (std::size_t axis = 0; axis < position.size(); ++axis) {
    const double* row = table_.row(position[axis]).data();
    table_.phi(position[axis], phi_);
    for (std::size_t p = 0; p < pairs; ++p) {
      if (plan_.pairs[p].axis != static_cast<int>(axis)) continue;
      const Angle angle = get_row(row, pairs, p);
      result[p] = {angle.cos, angle.sin, angle.cos, angle.sin, phi_[p]};
    }
  }
}

void Oracle::fill(std::int64_t first, std::int64_t count, std::span<double> cos, std::span<double> sin) {
  table_.fill(first, count, cos, sin);
}

void Oracle::fill(std::int64_t first, std::int64_t count, std::span<float> cos, std::span<float> sin) {
  table_.fill(first, count, cos, sin);
}

double Oracle::magnitude(std::size_t pair, std::int64_t position, bool key) const {
  if (!plan_.magnitude) return 1;
  const Magnitude& m = *plan_.magnitude;
  const double exponent = (static_cast<double>(position) - m.center) / m.scale_base;
  return std::pow(m.zeta[pair], key ? -exponent : exponent);
}

}  // namespace rope
