#include "reference/oracle.hpp"

#include <algorithm>
#include <cmath>

namespace rope {
namespace {

std::vector<Real> thetas(const RotationPlan& plan) {
  std::vector<Real> theta;
  for (const RotatedPair& pair : plan.pairs) theta.push_back(pair.theta);
  return theta;
}

DoubleDouble scaled(DoubleDouble value, double lambda) { return lambda == 1 ? value : value * lambda; }

}  // namespace

double PairAngle::gain(bool backward) const {
  const DoubleDouble& with_first = backward ? sin_second : sin_first;
  const DoubleDouble& with_second = backward ? sin_first : sin_second;
  return std::max(std::hypot(cos_first.hi, with_first.hi), std::hypot(cos_second.hi, with_second.hi));
}

ExactPair rotate_exact(double a, double b, const PairAngle& angle, double lambda, bool backward) {
  const PairAngle& t = angle;
  if (backward) {
    return {scaled(t.cos_first * a + t.sin_second * b, lambda), scaled(t.cos_second * b - t.sin_first * a, lambda)};
  }
  return {scaled(t.cos_first * a - t.sin_first * b, lambda), scaled(t.cos_second * b + t.sin_second * a, lambda)};
}

Oracle::Oracle(RotationPlan plan) : plan_(std::move(plan)), table_(thetas(plan_)) {}

std::vector<PairAngle> Oracle::angles(std::span<const std::int64_t> position) {
  std::vector<PairAngle> result;
  result.reserve(plan_.pairs.size());
  for (std::size_t p = 0; p < plan_.pairs.size(); ++p) {
    const std::int64_t m = position[static_cast<std::size_t>(plan_.pairs[p].axis)];
    const AngleTable::Angle angle = table_.at(p, m);
    result.push_back({angle.cos, angle.sin, angle.cos, angle.sin, table_.phi(p, m)});
  }
  return result;
}

void Oracle::fill(std::int64_t first, std::int64_t count, std::span<double> cos, std::span<double> sin) {
  table_.fill(first, count, cos, sin);
}

double Oracle::magnitude(std::size_t pair, std::int64_t position, bool key) const {
  if (!plan_.magnitude) return 1;
  const Magnitude& m = *plan_.magnitude;
  const double exponent = (static_cast<double>(position) - m.center) / m.scale_base;
  return std::pow(m.zeta[pair], key ? -exponent : exponent);
}

}  // namespace rope
