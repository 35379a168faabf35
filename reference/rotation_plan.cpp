#include "reference/rotation_plan.hpp"

#include <fmt/format.h>

#include "reference/embedded_seeds.hpp"
#include "reference/input_error.hpp"
#include "reference/pair_features.hpp"
#include "reference/rope_spec.hpp"

namespace rope {
namespace {

// theta of each pair. If the axes restart, each section is a rope of its own; its rotary_dim is twice its pairs. Its
// head_dim is the same number; only the proportional rule asks for it.
std::vector<Real> theta_of_pairs(const RopeSpec& spec, std::int64_t sequence_length) {
  if (std::holds_alternative<scaling::None>(spec.scaling) && !spec.axes.restart) {
    std::vector<Real> known = embedded_frequencies(spec.base, spec.rotary_dim);
    if (!known.empty()) return known;
  }
  scaling::Setting setting{spec.head_dim, spec.rotary_dim, spec.base, sequence_length};
  if (!spec.axes.restart || spec.axes.sections.empty()) return frequencies<Real>(spec.scaling, setting);
  std::vector<Real> theta;
  for (int pairs : spec.axes.sections) {
    if (pairs == 0) continue;
    setting.head_dim = setting.rotary_dim = 2 * pairs;
    const std::vector<Real> section = frequencies<Real>(spec.scaling, setting);
    theta.insert(theta.end(), section.begin(), section.end());
  }
  return theta;
}

Magnitude magnitude_of_pairs(const XPos& xpos, int rotary_dim) {
  Magnitude result{{}, xpos.scale_base, xpos.center};
  for (int p = 0; p < rotary_dim / 2; ++p) {
    result.zeta.push_back((2.0 * p / rotary_dim + xpos.gamma) / (1 + xpos.gamma));
  }
  return result;
}

}  // namespace

void check_frequencies(const RotationPlan& plan) {
  // No rule for models comes near it. Beyond it, angles of late positions are larger than a kernel's sine is made for.
  constexpr double largest = 1000;
  for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
    if (plan.pairs[p].theta <= Real(largest)) continue;
    throw InputError(fmt::format(
        "the frequency of pair {} is {:.6g}; allowed are {} radians a position; use a larger base or scaling factor", p,
        plan.pairs[p].theta.to_double(), largest));
  }
}

RotationPlan compile(const RopeSpec& spec, std::int64_t sequence_length) {
  validate(spec);
  const scaling::Setting setting{spec.head_dim, spec.rotary_dim, spec.base, sequence_length};
  const std::vector<int> axis = axis_of_pairs(spec);
  std::vector<Real> theta = theta_of_pairs(spec, sequence_length);

  RotationPlan plan;
  plan.head_dim = spec.head_dim;
  for (int p = 0; p < spec.rotary_dim / 2; ++p) {
    const auto i = static_cast<std::size_t>(p);
    const auto [first, second] = pair_features(spec, p);
    plan.pairs.push_back({first, second, axis[i], std::move(theta[i])});
  }
  plan.lambda =
      spec.attention_factor ? *spec.attention_factor : attention_factor<Real>(spec.scaling, setting).to_double();
  if (spec.xpos) plan.magnitude = magnitude_of_pairs(*spec.xpos, spec.rotary_dim);
  return plan;
}

}  // namespace rope
