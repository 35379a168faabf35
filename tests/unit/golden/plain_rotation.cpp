#include "tests/unit/golden/plain_rotation.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "reference/error_model.hpp"
#include "reference/oracle.hpp"

namespace rope {
namespace {

long double to_long_double(const Real& value) { return mpfr_get_ld(value.get(), MPFR_RNDN); }

double rounded_to(DType dtype, double value) {
  std::byte bytes[8];
  store(dtype, bytes, value);
  return load(dtype, bytes);
}

std::size_t extent(const GoldenCase& golden, const GoldenArray& array, std::size_t which) {
  return static_cast<std::size_t>(array.shape[static_cast<std::size_t>(golden.axis_of[which])]);
}

void follow_plan(PlainRotation& rotation, const RotationPlan& plan) {
  rotation.theta.clear();
  rotation.axis.clear();
  for (const RotatedPair& pair : plan.pairs) {
    rotation.theta.push_back(to_long_double(pair.theta));
    rotation.axis.push_back(pair.axis);
  }
  rotation.lambda = plan.lambda;
  rotation.magnitude = plan.magnitude;
}

// position of an array [axes, batch or 1, seq]
std::function<long double(std::size_t, const Token&)> positions_from(const Manifest& manifest, const GoldenCase& golden,
                                                                     std::string_view name) {
  const GoldenArray& array = *golden.find(name);
  const auto batches = static_cast<std::size_t>(array.shape[1]), seq = static_cast<std::size_t>(array.shape[2]);
  return [values = values_of(manifest, golden, name), batches, seq](std::size_t axis, const Token& token) {
    return static_cast<long double>(values[(axis * batches + (batches == 1 ? 0 : token.batch)) * seq + token.seq]);
  };
}

// The grade that a case's rounding rule has in the error model (error_model.md, "arithmetic").
ArithmeticGrade grade_of(const GoldenCase& golden) {
  if (golden.rounding == GoldenRounding::per_op) return ArithmeticGrade::three;
  const bool narrow_tables = golden.find("cos")->dtype != DType::f32;
  return narrow_tables ? ArithmeticGrade::two : ArithmeticGrade::one;
}

// xPos multiplies by zeta^e, e = (position - center) / scale_base, of which e is exact where scale_base is a power of
// two. zeta takes four roundings (a product, a sum, a product, a quotient), which the power magnifies by |e|; the power
// itself is good to an ulp, 2u; k takes its inverse, u; and each of the two products is rounded once more, u.
double magnitude_error(double exponent) { return (4 * std::fabs(exponent) + 4) * unit_roundoff(DType::f32); }

}  // namespace

std::vector<double> values_of(const Manifest& manifest, const GoldenCase& golden, std::string_view name) {
  const GoldenArray& array = *golden.find(name);
  const NpyArray stored = load(manifest, golden, array);
  std::vector<double> values(stored.bytes.size() / size_of(array.dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = load(array.dtype, stored.bytes.data() + i * size_of(array.dtype));
  }
  return values;
}

std::size_t index_in(const GoldenCase& golden, const GoldenArray& array, const Token& token, std::size_t feature) {
  const std::size_t at[4] = {token.batch, token.seq, token.head, feature};
  std::size_t index = 0;
  for (int axis = 0; axis < 4; ++axis) {
    for (std::size_t which = 0; which < 4; ++which) {
      if (golden.axis_of[which] == axis) index = index * extent(golden, array, which) + at[which];
    }
  }
  return index;
}

void for_each_token(const GoldenCase& golden, const GoldenArray& array,
                    const std::function<void(const Token&)>& visit) {
  for (std::size_t b = 0; b < extent(golden, array, 0); ++b) {
    for (std::size_t s = 0; s < extent(golden, array, 1); ++s) {
      for (std::size_t h = 0; h < extent(golden, array, 2); ++h) visit({b, s, h});
    }
  }
}

PlainRotation as_defined(const Manifest& manifest, const GoldenCase& golden) {
  PlainRotation rotation;
  follow_plan(rotation, compile(golden.spec, golden.sequence_length));
  rotation.c.assign(rotation.theta.size(), *golden.c);
  rotation.working = working_type(golden.dtype);
  if (golden.theta_is_given) {
    const std::vector<double> given = values_of(manifest, golden, "theta");
    rotation.theta.assign(given.begin(), given.end());
    rotation.c.assign(given.size(), 0);
  }
  rotation.position = positions_from(manifest, golden, "positions");
  rotation.read_at = [](std::size_t feature) { return feature; };
  const bool split = golden.spec.pairing == Pairing::half_split;
  rotation.pair_of_cos = [split, pairs = rotation.theta.size()](std::size_t feature) {
    return split ? feature % pairs : feature / 2;
  };
  return rotation;
}

PlainRotation as_the_source_does(const Manifest& manifest, const GoldenCase& golden) {
  PlainRotation rotation = as_defined(manifest, golden);
  if (!golden.instead) return rotation;
  const GoldenInstead& instead = *golden.instead;
  const auto defined = rotation.position;
  switch (instead.rule) {
    case GoldenRule::positions_rounded:
      rotation.position = [defined, dtype = *instead.dtype](std::size_t axis, const Token& token) {
        return static_cast<long double>(rounded_to(dtype, static_cast<double>(defined(axis, token))));
      };
      break;
    case GoldenRule::other_positions: rotation.position = positions_from(manifest, golden, "positions_used"); break;
    case GoldenRule::position_of_head:
      rotation.position = [defined](std::size_t axis, const Token& token) {
        return defined(axis, {token.batch, token.head, token.head});
      };
      break;
    case GoldenRule::theta_rounded:
      for (long double& theta : rotation.theta) {
        theta = static_cast<long double>(rounded_to(*instead.dtype, static_cast<double>(theta)));
      }
      rotation.c.assign(rotation.theta.size(), 0);
      break;
    case GoldenRule::theta_without_division:
      for (std::size_t p = 0; p < rotation.theta.size(); ++p) {
        const long double exponent = -2.0L * static_cast<long double>(p) * golden.spec.rotary_dim;
        rotation.theta[p] = std::pow(static_cast<long double>(golden.spec.base), exponent);
      }
      break;
    case GoldenRule::other_sequence_length:
      follow_plan(rotation, compile(golden.spec, *instead.sequence_length));
      break;
    case GoldenRule::other_spec: follow_plan(rotation, compile(*instead.spec, golden.sequence_length)); break;
    case GoldenRule::angles_in_f32: rotation.working = DType::f32; break;
    case GoldenRule::k_turned_with_q: rotation.k_turned_with_q = true; break;
    case GoldenRule::second_block_one_column_left:
      rotation.read_at = [](std::size_t feature) { return feature / 2 == 1 ? feature - 1 : feature; };
      break;
    case GoldenRule::cosines_one_feature_early:
      rotation.pair_of_cos = [pairs = rotation.theta.size()](std::size_t feature) {
        return std::min((feature + 1) / 2, pairs - 1);
      };
      break;
    case GoldenRule::k_not_conjugated: break;  // of scores; the rotations are right
  }
  return rotation;
}

// The bound is that of reference/error_model.md with r = the norm of the two values that are multiplied: for each
// element, |y~ - y| <= lambda m r ((C + 1) |phi| u + arithmetic + magnitude) + tiny, where m is xPos's factor, 1 else.
// What long double adds to phi, 2^-63 of it, is below 2^-38 of the first term.
double worst_use(const Manifest& manifest, const GoldenCase& golden, const PlainRotation& rotation) {
  double worst = 0;
  const std::size_t pairs = rotation.theta.size(), rotary = 2 * pairs;
  const bool split = golden.spec.pairing == Pairing::half_split;
  for (const char* name : {"q", "k"}) {
    const GoldenArray* array = golden.find(name);
    if (array == nullptr) continue;
    const GoldenArray& out_array = *golden.find(std::string(name) + "_out");
    const std::vector<double> x = values_of(manifest, golden, name);
    const std::vector<double> partners = rotation.k_turned_with_q ? values_of(manifest, golden, "q") : x;
    const std::vector<double> y = values_of(manifest, golden, out_array.name);
    // f64 tensors whose angles are made in f32 are judged as f32 ones: what f64 products add is less than f32's would
    // be.
    const bool narrowed = golden.dtype == DType::f64 && rotation.working == DType::f32;
    const BoundTerms terms = bound_terms({AngleKnowledge::computed, narrowed ? DType::f32 : golden.dtype,
                                          narrowed ? DType::f32 : out_array.dtype, DType::f32, rotation.lambda});
    const double u = unit_roundoff(rotation.working);
    const auto grade = static_cast<std::size_t>(grade_of(golden));
    const auto check = [&](double error, double bound) {
      const double use = error == 0 ? 0 : error / bound;
      worst = std::max(worst, std::isnan(use) ? std::numeric_limits<double>::infinity() : use);
    };
    for_each_token(golden, *array, [&](const Token& token) {
      const auto in = [&](const std::vector<double>& from, std::size_t feature) {
        return from[index_in(golden, *array, token, rotation.read_at(feature))];
      };
      for (std::size_t feature = 0; feature < rotary; ++feature) {
        const std::size_t p = split ? feature % pairs : feature / 2;
        const bool is_first = split ? feature < pairs : feature % 2 == 0;
        const std::size_t other = split ? (feature + pairs) % rotary : feature ^ 1;
        const std::size_t cos_pair = rotation.pair_of_cos(feature);
        const long double position = rotation.position(static_cast<std::size_t>(rotation.axis[p]), token);
        const long double phi = position * rotation.theta[p], cos_phi = position * rotation.theta[cos_pair];
        const long double own = in(x, feature), partner = is_first ? -in(partners, other) : in(partners, other);
        double factor = rotation.lambda, extra = 0;
        if (rotation.magnitude) {
          const Magnitude& m = *rotation.magnitude;
          const double exponent = (static_cast<double>(position) - m.center) / m.scale_base;
          factor *= std::pow(m.zeta[p], name[0] == 'k' ? -exponent : exponent);
          extra = magnitude_error(exponent);
        }
        const long double exact = factor * (own * std::cos(cos_phi) + partner * std::sin(phi));
        const double angle = (std::max(rotation.c[p], rotation.c[cos_pair]) + 1) * u *
                             static_cast<double>(std::max(std::fabs(phi), std::fabs(cos_phi)));
        const double r = std::hypot(static_cast<double>(own), static_cast<double>(partner));
        const double actual = y[index_in(golden, out_array, token, feature)];
        check(static_cast<double>(std::fabs(actual - exact)),
              factor * r * (angle + terms.arithmetic[grade] + extra) + terms.tiny[grade]);
      }
      for (auto feature = rotary; feature < static_cast<std::size_t>(golden.spec.head_dim); ++feature) {
        const std::size_t at = index_in(golden, *array, token, feature);
        check(std::fabs(y[at] - x[at]), 0);
      }
    });
  }
  return worst;
}

}  // namespace rope
