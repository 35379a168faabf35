#include "tests/unit/golden/plain_rotation.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "reference/error_model.hpp"
#include "reference/oracle.hpp"
#include "reference/xtensor.hpp"
#include "tests/unit/golden/arrays.hpp"

namespace rope {
namespace {

using Row = xt::xtensor<long double, 1>;  // of the features of a head

long double to_long_double(const Real& value) { return mpfr_get_ld(value.get(), MPFR_RNDN); }

double rounded_to(DType dtype, double value) {
  std::byte bytes[8];
  store(dtype, bytes, value);
  return load(dtype, bytes);
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
  const std::array<std::size_t, 3> shape{static_cast<std::size_t>(array.shape[0]),
                                         static_cast<std::size_t>(array.shape[1]),
                                         static_cast<std::size_t>(array.shape[2])};
  const xt::xtensor<double, 3> values = xt::reshape_view(values_of(manifest, golden, name), shape);
  return [values](std::size_t axis, const Token& token) {
    return static_cast<long double>(values(axis, values.shape(1) == 1 ? 0 : token.batch, token.seq));
  };
}

// The grade of a case's rounding rule in the error model (error_model.md, "arithmetic").
ArithmeticGrade grade_of(const GoldenCase& golden) {
  if (golden.rounding == GoldenRounding::per_op) return ArithmeticGrade::three;
  const bool narrow_tables = golden.find("cos")->dtype != DType::f32;
  return narrow_tables ? ArithmeticGrade::two : ArithmeticGrade::one;
}

// xPos multiplies by zeta^e, e = (position - center) / scale_base; e is exact where scale_base is a power of two. Four
// roundings make zeta (a product, a sum, a product, a quotient), and the power magnifies them by |e|. The power itself
// is good to an ulp, 2u. For k its inverse is taken, u. Each of the two products is rounded once more, u. In 16 bits the
// factor is rounded to them, and for k its inverse, too.
Row magnitude_error(const Row& exponent, DType stored, bool key) {
  const double narrowed = stored == DType::f32 ? 0 : (key ? 2 : 1) * unit_roundoff(stored);
  return (4 * xt::abs(exponent) + 4) * unit_roundoff(DType::f32) + narrowed;
}

}  // namespace

PlainRotation as_defined(const Manifest& manifest, const GoldenCase& golden) {
  PlainRotation rotation;
  follow_plan(rotation, compile(golden.spec, golden.sequence_length));
  rotation.c.assign(rotation.theta.size(), *golden.c);
  rotation.working = working_type(golden.dtype);
  if (golden.theta_is_given) {
    const Vector given = values_of(manifest, golden, "theta");
    rotation.theta.assign(given.begin(), given.end());
    rotation.c.assign(given.size(), 0);
  }
  rotation.position = positions_from(manifest, golden, "positions");
  if (golden.find("k_positions") != nullptr) rotation.key_position = positions_from(manifest, golden, "k_positions");
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
    case GoldenRule::tables_rounded: rotation.tables = *instead.dtype; break;
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
    case GoldenRule::k_not_conjugated: break;  // affects scores; the rotations are right
  }
  return rotation;
}

namespace {

// For each feature that turns: where it and its partner are read, whose sine and whose cosine turn it, and the sign of
// its partner.
struct Features {
  std::vector<std::size_t> own, partner, sine, cosine;
  Row sign;

  Features(const PlainRotation& rotation, Pairing pairing) {
    const std::size_t pairs = rotation.theta.size(), rotary = 2 * pairs;
    const bool split = pairing == Pairing::half_split;
    sign = Row::from_shape({rotary});
    for (std::size_t feature = 0; feature < rotary; ++feature) {
      own.push_back(rotation.read_at(feature));
      partner.push_back(rotation.read_at(split ? (feature + pairs) % rotary : feature ^ 1));
      sine.push_back(split ? feature % pairs : feature / 2);
      cosine.push_back(rotation.pair_of_cos(feature));
      sign(feature) = (split ? feature < pairs : feature % 2 == 0) ? -1 : 1;
    }
  }
};

template <class Number>
Row each(const std::vector<Number>& of_pairs, const std::vector<std::size_t>& pairs) {
  const Row all = xt::cast<long double>(xt::adapt(of_pairs));
  return xt::view(all, xt::keep(pairs));
}

// The error that a kernel of the case's rounding rule adds to its angles' error.
BoundTerms terms_of(const GoldenCase& golden, const GoldenArray& out, const PlainRotation& rotation) {
  // f64 tensors with angles made in f32 are judged as f32: f64 products add less than f32's would.
  const bool narrowed = golden.dtype == DType::f64 && rotation.working == DType::f32;
  return bound_terms({AngleKnowledge::computed, narrowed ? DType::f32 : golden.dtype, narrowed ? DType::f32 : out.dtype,
                      DType::f32, rotation.lambda});
}

// Rounds entries of a table that are off by up to `error` before. Returns by how much each may be off after it: by
// nothing, or by a spacing where a midpoint is near.
Row round_table(Row& entries, const Row& error, DType dtype) {
  Row off = error;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto low = static_cast<double>(entries(i) - error(i)), high = static_cast<double>(entries(i) + error(i));
    off(i) = rounded_to(dtype, high) - rounded_to(dtype, low);
    entries(i) = rounded_to(dtype, static_cast<double>(entries(i)));
  }
  return off;
}

double worst_of(const Row& error, const Row& bound) {
  const Row use = xt::where(xt::equal(error, 0.0L), 0.0L, error / bound);
  if (xt::any(xt::isnan(use))) return std::numeric_limits<double>::infinity();
  return static_cast<double>(xt::amax(use)());
}

}  // namespace

// |y~ - y| <= lambda m r ((C + 1) |phi| u + arithmetic + magnitude) + tiny
//
// The bound of reference/error_model.md for each element, with r = the norm of the two values that are multiplied. Here
// m is xPos's factor, else 1. In long double phi is off by 2^-63 of itself, below 2^-38 of the first term.
double worst_use(const Manifest& manifest, const GoldenCase& golden, const PlainRotation& rotation) {
  double worst = 0;
  const Features of(rotation, golden.spec.pairing);
  const std::size_t rotary = of.own.size();
  const Row theta = each(rotation.theta, of.sine), theta_of_cos = each(rotation.theta, of.cosine);
  const Row c = xt::maximum(each(rotation.c, of.sine), each(rotation.c, of.cosine));
  const Row axis = each(rotation.axis, of.sine);
  const auto grade = static_cast<std::size_t>(grade_of(golden));
  const double u = unit_roundoff(rotation.working);
  for (const std::string name : {"q", "k"}) {
    if (golden.find(name) == nullptr) continue;
    const TokenArray x = tokens_of(manifest, golden, name), y = tokens_of(manifest, golden, name + "_out");
    const TokenArray partners = rotation.k_turned_with_q ? tokens_of(manifest, golden, "q") : x;
    const BoundTerms terms = terms_of(golden, *golden.find(name + "_out"), rotation);
    for_each_token(x, [&](const Token& at) {
      const auto row = [&](const TokenArray& array, auto features) -> Row {
        return xt::view(array, at.batch, at.seq, at.head, features);
      };
      Row position = axis;
      const auto& position_of = name == "k" && rotation.key_position ? rotation.key_position : rotation.position;
      for (long double& of_axis : position) of_axis = position_of(static_cast<std::size_t>(of_axis), at);
      const Row phi = position * theta, phi_of_cos = position * theta_of_cos;
      const Row own = row(x, xt::keep(of.own)), partner = of.sign * row(partners, xt::keep(of.partner));
      Row factor = rotation.lambda * xt::ones<long double>({rotary}), extra = xt::zeros<long double>({rotary});
      if (rotation.magnitude) {
        const Magnitude& m = *rotation.magnitude;
        const Row exponent = (position - m.center) / m.scale_base;
        factor *= xt::pow(each(m.zeta, of.sine), name == "k" ? Row(-exponent) : exponent);
        extra = magnitude_error(exponent, golden.find("q_scale")->dtype, name == "k");
      }
      Row cosine = xt::cos(phi_of_cos), sine = xt::sin(phi), rounding = xt::zeros<long double>({rotary});
      const Row angle = (c + 1) * u * xt::maximum(xt::abs(phi), xt::abs(phi_of_cos));
      if (rotation.tables) {
        rounding += xt::abs(own) * round_table(cosine, angle + u, *rotation.tables);
        rounding += xt::abs(partner) * round_table(sine, angle + u, *rotation.tables);
      }
      const Row exact = factor * (own * cosine + partner * sine);
      const Row reach = factor * xt::hypot(own, partner);
      const Row bound = reach * (angle + terms.arithmetic[grade] + extra) + factor * rounding + terms.tiny[grade];
      worst = std::max(worst, worst_of(xt::abs(row(y, xt::range(std::size_t{0}, rotary)) - exact), bound));
      const auto rest = xt::range(rotary, static_cast<std::size_t>(golden.spec.head_dim));
      if (row(y, rest) != row(x, rest)) worst = std::numeric_limits<double>::infinity();
    });
  }
  return worst;
}

}  // namespace rope
