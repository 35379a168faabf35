// The bounds against error_model.md's derivations by hand, and the constants C against the errors of float arithmetic.
#include "reference/error_model.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <concepts>
#include <limits>

#include "reference/rotation_plan.hpp"
#include "reference/running_error.hpp"
#include "tests/unit/property.hpp"
#include "tests/unit/reference/random_spec.hpp"

namespace rope {
namespace {

constexpr double u64 = 0x1p-53, u32 = 0x1p-24, u16 = 0x1p-11, ub = 0x1p-8;

BoundSetting setting(AngleKnowledge knowledge, DType input, DType output, DType given, double lambda = 1) {
  return {knowledge, input, output, given, lambda};
}

void check_arithmetic(const BoundSetting& s, double one, double two, double three) {
  INFO(name(s.input) << " to " << name(s.output) << ", given " << name(s.given) << ", lambda " << s.lambda);
  const BoundTerms terms = bound_terms(s);
  CHECK(terms.arithmetic[0] == Approx(one).epsilon(1e-14));  // sums of a few doubles, in another order
  CHECK(terms.arithmetic[1] == Approx(two).epsilon(1e-14));
  CHECK(terms.arithmetic[2] == Approx(three).epsilon(1e-14));
}

TEST_CASE("grades are named A1 to C3", "[error_model]") {
  CHECK(name(Grade{AngleGrade::A, ArithmeticGrade::one}) == "A1");
  CHECK(name(Grade{AngleGrade::B, ArithmeticGrade::three}) == "B3");
  CHECK(name(Grade{AngleGrade::C, ArithmeticGrade::two}) == "C2");
}

TEST_CASE("a grade is known by its name, and by no other word", "[error_model]") {
  for (const char* text : {"A1", "A2", "A3", "B1", "B2", "B3", "C1", "C2", "C3"}) {
    REQUIRE(grade_from_name(text).has_value());
    CHECK(name(*grade_from_name(text)) == text);
  }
  CHECK(name(Grade{}) == "C3");
  for (const char* text : {"", "A", "1", "A0", "A4", "D1", "@1", "a1", "A1 ", " A1", "A11"}) {
    INFO(text);
    CHECK_FALSE(grade_from_name(text).has_value());
  }
}

TEST_CASE("kernels work in f64 for f64 and in f32 for everything else", "[error_model]") {
  CHECK(working_type(DType::f64) == DType::f64);
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) CHECK(working_type(dtype) == DType::f32);
}

TEST_CASE("arithmetic: two products and a sum cost 2u, whatever the grade", "[error_model]") {
  const auto tables = AngleKnowledge::tables;
  check_arithmetic(setting(tables, DType::f32, DType::f32, DType::f32), 2 * u32, 2 * u32, 2 * u32);
  check_arithmetic(setting(tables, DType::f64, DType::f64, DType::f64), 2 * u64, 2 * u64, 2 * u64);
  check_arithmetic(setting(tables, DType::f32, DType::f32, DType::bf16), 2 * u32, 2 * u32, 2 * u32);
}

TEST_CASE("arithmetic: wider tables are rounded once, own cosines cost 0.61 sqrt(2) u, lambda 2u", "[error_model]") {
  check_arithmetic(setting(AngleKnowledge::tables, DType::f32, DType::f32, DType::f64), 3 * u32, 3 * u32, 3 * u32);
  const double libm = 0.61 * 1.4142135623730950488 * u32;
  for (const auto knowledge : {AngleKnowledge::computed, AngleKnowledge::frequencies}) {
    const double own = libm + 2 * u32;
    check_arithmetic(setting(knowledge, DType::f32, DType::f32, DType::f64), own, own, own);
    check_arithmetic(setting(knowledge, DType::f32, DType::f32, DType::f32, 1.25), own + 2 * u32, own + 2 * u32,
                     own + 2 * u32);
  }
  check_arithmetic(setting(AngleKnowledge::tables, DType::f32, DType::f32, DType::f32, -1), 4 * u32, 4 * u32, 4 * u32);
}

TEST_CASE("arithmetic: at grade C sin and cos may be 4 ulp off in f64, and in f32 as much as at other grades",
          "[error_model]") {
  const double root = 1.4142135623730950488;
  for (const auto knowledge : {AngleKnowledge::computed, AngleKnowledge::frequencies}) {
    const BoundTerms wide = bound_terms(setting(knowledge, DType::f64, DType::f64, DType::f64));
    CHECK(wide.arithmetic[0] + wide.loose_functions == Approx((2 + 4 * root) * u64).epsilon(1e-14));
    CHECK(bound_terms(setting(knowledge, DType::f32, DType::f32, DType::f32)).loose_functions == 0);
    CHECK(bound_terms(setting(knowledge, DType::bf16, DType::bf16, DType::f32)).loose_functions == 0);
  }
  CHECK(bound_terms(setting(AngleKnowledge::tables, DType::f64, DType::f64, DType::f64)).loose_functions == 0);
}

TEST_CASE("where the angle may be off, sin and cos may be 4 ulp off in every type; given tables are exact",
          "[error_model]") {
  const double beyond_good = 1.4142135623730950488 * (4 - 0.61);
  const std::pair<DType, double> types[] = {{DType::f64, u64}, {DType::f32, u32}, {DType::bf16, u32}};
  for (const auto& [input, unit] : types) {
    const auto of = [dtype = input](AngleKnowledge knowledge) {
      return bound_terms(setting(knowledge, dtype, dtype, DType::f32)).functions_at_any_angle;
    };
    CHECK(of(AngleKnowledge::computed) == Approx(beyond_good * unit).epsilon(1e-14));
    CHECK(of(AngleKnowledge::frequencies) == Approx(beyond_good * unit).epsilon(1e-14));
    CHECK(of(AngleKnowledge::tables) == 0);
  }
}

TEST_CASE("arithmetic: 16-bit storage costs one, two or three roundings to it", "[error_model]") {
  const auto tables = AngleKnowledge::tables;
  for (const auto& [dtype, s] : {std::pair(DType::f16, u16), std::pair(DType::bf16, ub)}) {
    check_arithmetic(setting(tables, dtype, dtype, dtype), 2 * u32 + s, 2 * u32 + 2 * s * (1 + 2 * s),
                     2 * u32 + 3 * s * (1 + 3 * s));
    // With lambda there are two more in grade 3; in grades 1 and 2 it is multiplied in f32.
    check_arithmetic(setting(tables, dtype, dtype, dtype, 2), 4 * u32 + s, 4 * u32 + 2 * s * (1 + 2 * s),
                     4 * u32 + 5 * s * (1 + 3 * s));
    // A wider output is not rounded to 16 bits; tables (grade 2) and every operation (grade 3) may be.
    check_arithmetic(setting(tables, dtype, DType::f32, dtype), 2 * u32, 2 * u32 + s * (1 + 2 * s),
                     2 * u32 + 3 * s * (1 + 3 * s));
  }
}

TEST_CASE("arithmetic: f32 is narrow storage for f64, whose results are rounded to it", "[error_model]") {
  const auto tables = AngleKnowledge::tables;
  check_arithmetic(setting(tables, DType::f64, DType::f32, DType::f64), 2 * u64 + u32,
                   2 * u64 + 2 * u32 * (1 + 2 * u32), 2 * u64 + 3 * u32 * (1 + 3 * u32));
  check_arithmetic(setting(tables, DType::f32, DType::f64, DType::f32), 2 * u32, 2 * u32, 2 * u32);
  const double by_way_of_f32 = ub + u32 * (1 + ub);
  CHECK(bound_terms(setting(tables, DType::f64, DType::bf16, DType::f64)).arithmetic[0] ==
        Approx(2 * u64 + by_way_of_f32));
}

TEST_CASE("copies are exact, or rounded once if the output is narrower", "[error_model]") {
  const auto copy = [](DType input, DType output) {
    const BoundTerms terms = bound_terms(setting(AngleKnowledge::tables, input, output, DType::f32));
    return std::pair(terms.copy, terms.copy_tiny);
  };
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    CHECK(copy(dtype, dtype) == std::pair(0.0, 0.0));
    CHECK(copy(dtype, DType::f64) == std::pair(0.0, 0.0));
  }
  CHECK(copy(DType::f16, DType::f32) == std::pair(0.0, 0.0));
  CHECK(copy(DType::f64, DType::f32) == std::pair(u32, 0x1p-150));
  CHECK(copy(DType::f32, DType::f16) == std::pair(u16, 0x1p-25));
  CHECK(copy(DType::f32, DType::bf16) == std::pair(ub, 0x1p-134));
  CHECK(copy(DType::f64, DType::f16) == std::pair(u16 + u32 * (1 + u16), 0x1p-25));
  CHECK(copy(DType::bf16, DType::f16) == std::pair(0.0, 0x1p-25));  // f16 has more bits, and fewer exponents
  CHECK(copy(DType::f16, DType::bf16) == std::pair(ub, 0.0));
}

TEST_CASE("grade 3 bounds the roundings that it stands for", "[error_model]") {
  // y = fl(fl(a c) - fl(b s)) with c and s rounded to bf16, against the bound: the worst of many.
  const auto fl = [](double x) { return bfloat16_to_double(double_to_bfloat16(x)); };
  const double bound = bound_terms(setting(AngleKnowledge::tables, DType::bf16, DType::bf16, DType::f32)).arithmetic[2];
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double phi = 0.001 * i;
    const double a = fl(1 + std::fmod(0.37 * i, 1)), b = fl(-2 + std::fmod(0.77 * i, 4));
    const double c = std::cos(phi), s = std::sin(phi);
    const double y = fl(fl(a * fl(c)) - fl(b * fl(s)));
    worst = std::max(worst, std::fabs(y - (a * c - b * s)) / std::hypot(a, b) / bound);
  }
  CHECK(worst <= 1);
  CHECK(worst > 0.5);  // a bound that no value comes near would let two more roundings pass
}

TEST_CASE("tiny: each rounding may land half a subnormal off", "[error_model]") {
  const auto tiny = [](DType input, DType output) {
    return bound_terms(setting(AngleKnowledge::tables, input, output, input)).tiny;
  };
  CHECK(tiny(DType::f64, DType::f64)[0] == 4 * 0x1p-1074 / 2);  // a double cannot hold half a subnormal of f64
  CHECK(tiny(DType::f64, DType::f64)[2] == 6 * 0x1p-1074 / 2);
  // lambda last: what is lost before is multiplied by it.
  CHECK(bound_terms(setting(AngleKnowledge::tables, DType::f32, DType::f32, DType::f32, -4)).tiny[0] == 13 * 0x1p-150);
  CHECK(bound_terms(setting(AngleKnowledge::tables, DType::f32, DType::f32, DType::f32, 0.5)).tiny[0] == 4 * 0x1p-150);
  CHECK(tiny(DType::f32, DType::f32)[0] == 4 * 0x1p-150);
  CHECK(tiny(DType::f32, DType::f32)[2] == 6 * 0x1p-150);
  CHECK(tiny(DType::f16, DType::f16)[0] == 3 * 0x1p-150 + 0x1p-25);
  CHECK(tiny(DType::f16, DType::f16)[1] == 3 * 0x1p-150 + 2 * 0x1p-25);
  CHECK(tiny(DType::f16, DType::f16)[2] == 3 * 0x1p-150 + 3 * 0x1p-25);
  CHECK(tiny(DType::bf16, DType::bf16)[2] == 3 * 0x1p-150 + 3 * 0x1p-134);
  CHECK(tiny(DType::bf16, DType::f16)[2] == 3 * 0x1p-150 + 3 * 0x1p-25);
  CHECK(tiny(DType::f16, DType::bf16)[2] == 3 * 0x1p-150 + 3 * 0x1p-25);
  CHECK(tiny(DType::f16, DType::f32)[0] == 4 * 0x1p-150);
  CHECK(tiny(DType::f16, DType::f32)[2] == 3 * 0x1p-150 + 3 * 0x1p-25);
}

TEST_CASE("angle: no error with tables, u of the working type else, f64 for grade A", "[error_model]") {
  const auto angle = [](AngleKnowledge knowledge, DType input) {
    const BoundTerms terms = bound_terms(setting(knowledge, input, input, DType::f32));
    return std::pair(terms.angle_unit, terms.angle_exact_unit);
  };
  CHECK(angle(AngleKnowledge::tables, DType::f32) == std::pair(0.0, 0.0));
  for (const auto knowledge : {AngleKnowledge::computed, AngleKnowledge::frequencies}) {
    CHECK(angle(knowledge, DType::f64) == std::pair(u64, 0.0));
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
      CHECK(angle(knowledge, dtype) == std::pair(u32, u64));
  }
}

TEST_CASE("a looser grade never allows less", "[error_model]") {
  for (const auto knowledge : {AngleKnowledge::tables, AngleKnowledge::frequencies, AngleKnowledge::computed}) {
    for (const DType input : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      for (const DType output : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        for (const DType given : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
          for (const double lambda : {1.0, 1.25}) {
            const BoundTerms terms = bound_terms(setting(knowledge, input, output, given, lambda));
            CHECK(terms.angle_exact_unit <= terms.angle_unit);
            for (std::size_t grade = 1; grade < arithmetic_grades; ++grade) {
              CHECK(terms.arithmetic[grade - 1] <= terms.arithmetic[grade]);
              CHECK(terms.tiny[grade - 1] <= terms.tiny[grade]);
            }
          }
        }
      }
    }
  }
  rc::prop("C of grade C against C of grade B", [] {
    const RopeSpec spec = test::any_spec();
    const std::vector<double> direct = direct_constants(spec, 100);
    const std::vector<double> loosest = loosest_constants(spec, 100);
    RC_ASSERT(direct.size() == static_cast<std::size_t>(spec.rotary_dim / 2));
    RC_ASSERT(loosest.size() == direct.size());
    for (std::size_t p = 0; p < direct.size(); ++p) {
      RC_ASSERT(direct[p] >= 0);
      RC_ASSERT(loosest[p] >= direct[p]);
    }
  });
}

TEST_CASE("C of the plain rule is 2 + ln(base) 2p/r", "[error_model]") {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = 96;
  const std::vector<double> constants = direct_constants(spec, 1);
  for (std::size_t p = 0; p < 48; ++p) {
    // The exponent is a quotient that is rounded once; the power counts twice.
    CHECK(constants[p] == Approx(2 + std::log(10000.0) * 2 * static_cast<double>(p) / 96).epsilon(1e-12));
  }
  spec.base = 10000.1;  // not a float: rounded on its way in, which the power multiplies by 2p/r
  CHECK(direct_constants(spec, 1)[24] == Approx(2 + std::log(10000.1) / 2 + 0.5).epsilon(1e-12));
  spec.base = 10000;
  spec.scaling = scaling::Linear{{}, 4};
  CHECK(direct_constants(spec, 1)[24] == Approx(3 + std::log(10000.0) / 2).epsilon(1e-12));
  spec.scaling = scaling::Constant{};
  CHECK(direct_constants(spec, 1)[24] == 0);
}

TEST_CASE("C of grade C is p (3 + L) by multiplication or 2 + 4 p L by exp, L = ln(base) 2/r", "[error_model]") {
  RopeSpec spec;
  for (const auto& [dim, base] :
       {std::pair(128, 10000.0), std::pair(96, 1e6), std::pair(8, 1e6), std::pair(4, 150.0)}) {
    spec.head_dim = spec.rotary_dim = dim;
    spec.base = base;
    const std::vector<double> constants = loosest_constants(spec, 1);
    const double step = std::log(base) * 2 / dim;
    for (std::size_t i = 0; i < constants.size(); ++i) {
      const auto p = static_cast<double>(i);
      CHECK(constants[i] == Approx(std::max(p * (3 + step), 2 + 4 * p * step)).epsilon(1e-12));
    }
  }
}

// theta of a spec in float, the unscaled ones by repeated multiplication or by exp and log. A separate number type, so
// that the rules find these two in place of their own.
template <ThetaBy way>
struct Rounded {
  float value = 0;
  Rounded() = default;
  Rounded(double v) : value(static_cast<float>(v)) {}              // NOLINT
  Rounded(std::integral auto v) : value(static_cast<float>(v)) {}  // NOLINT

  friend Rounded operator+(Rounded a, Rounded b) { return Rounded(a.value + b.value); }
  friend Rounded operator-(Rounded a, Rounded b) { return Rounded(a.value - b.value); }
  friend Rounded operator*(Rounded a, Rounded b) { return Rounded(a.value * b.value); }
  friend Rounded operator/(Rounded a, Rounded b) { return Rounded(a.value / b.value); }
  friend auto operator<=>(Rounded a, Rounded b) = default;
  friend Rounded pow(Rounded a, Rounded b) { return Rounded(std::pow(a.value, b.value)); }
  friend Rounded log(Rounded a) { return Rounded(std::log(a.value)); }
  friend Rounded floor(Rounded a) { return Rounded(std::floor(a.value)); }
  friend Rounded ceil(Rounded a) { return Rounded(std::ceil(a.value)); }

  friend std::vector<Rounded> unscaled(const Rounded& base, int r) {
    const float step = std::pow(base.value, -2.0f / static_cast<float>(r));
    std::vector<Rounded> theta{Rounded(1)};
    for (int p = 1; p < r / 2; ++p) {
      const float exponent = -2.0f * static_cast<float>(p) / static_cast<float>(r);
      const float by_exp = std::exp(exponent * std::log(base.value));
      theta.push_back(Rounded(way == ThetaBy::recurrence ? theta.back().value * step : by_exp));
    }
    return theta;
  }
};

// Largest |theta~/theta - 1| / (C u) of grade C, theta~ in float.
template <ThetaBy way>
double share_of_loosest(const RopeSpec& spec, std::int64_t length) {
  const scaling::Setting where{spec.head_dim, spec.rotary_dim, spec.base, length};
  const std::vector<Real> exact = frequencies<Real>(spec.scaling, where);
  const auto rounded = frequencies<Rounded<way>>(spec.scaling, where);
  const std::vector<double> constants = loosest_constants(spec, length);
  double worst = 0;
  for (std::size_t p = 0; p < exact.size(); ++p) {
    if (exact[p] == Real(0)) continue;
    const Real difference = Real(static_cast<double>(rounded[p].value)) - exact[p];
    const double error = std::fabs((difference / exact[p]).to_double()) / u32;
    if (error > 0) worst = std::max(worst, constants[p] > 0 ? error / constants[p] : 1e9);
  }
  return worst;
}

TEST_CASE("C of grade C bounds what multiplication and exp lose in float, through every rule", "[error_model]") {
  // The ramp of llama3 follows theta, and so increases its error: eleven times, at the slow end of this one.
  RopeSpec ramp;
  ramp.head_dim = ramp.rotary_dim = 320;
  ramp.base = 150;
  ramp.scaling = scaling::Llama3{{}, 32, 1, 4, 512};
  const double share = share_of_loosest<ThetaBy::recurrence>(ramp, 1);
  CHECK(share <= 1);
  CHECK(share > 0.125);
  for (std::size_t kind = 0; kind < std::variant_size_v<Scaling>; ++kind) {
    double worst = 0;
    const auto refuted = test::counterexample([&] {
      for (int i = 0; i < 10; ++i) {
        const RopeSpec spec = test::any_spec_of(kind);
        const auto length = static_cast<std::int64_t>(test::between(1, 1 << 22));
        const double multiplied = share_of_loosest<ThetaBy::recurrence>(spec, length);
        const double by_exp = share_of_loosest<ThetaBy::exponential>(spec, length);
        RC_ASSERT(multiplied <= 1);
        RC_ASSERT(by_exp <= 1);
        worst = std::max({worst, multiplied, by_exp});
      }
    });
    INFO("rule " << kind << " uses " << worst << " of C; " << refuted.value_or(""));
    CHECK_FALSE(refuted.has_value());
    if (kind < 9) CHECK(worst > 0.125);
  }
}

// Largest |theta~/theta - 1| / (C u) over the pairs of a spec, theta~ by the rule itself in T.
template <class T>
double share_of_constant(const RopeSpec& spec, std::int64_t length) {
  const double u = unit_roundoff(std::is_same_v<T, double> ? DType::f64 : DType::f32);
  const scaling::Setting where{spec.head_dim, spec.rotary_dim, spec.base, length};
  const std::vector<Real> exact = frequencies<Real>(spec.scaling, where);
  const std::vector<T> rounded = frequencies<T>(spec.scaling, where);
  const std::vector<double> constants = direct_constants(spec, length);
  double worst = 0;
  for (std::size_t p = 0; p < exact.size(); ++p) {
    const Real difference = Real(static_cast<double>(rounded[p])) - exact[p];
    if (difference == Real(0)) continue;
    const double error = std::fabs((difference / exact[p]).to_double()) / u;
    worst = std::max(worst, constants[p] > 0 ? error / constants[p] : std::numeric_limits<double>::infinity());
  }
  return worst;
}

TEST_CASE("C bounds what a rule loses in float and in double, and not by far", "[error_model]") {
  for (std::size_t kind = 0; kind < std::variant_size_v<Scaling>; ++kind) {
    double worst = 0;
    const auto refuted = test::counterexample([&] {
      for (int i = 0; i < 10; ++i) {
        const RopeSpec spec = test::any_spec_of(kind);
        const auto length = static_cast<std::int64_t>(test::between(1, 1 << 22));
        const double share = share_of_constant<float>(spec, length);
        RC_ASSERT(share <= 1);
        RC_ASSERT(share_of_constant<double>(spec, length) <= 1);
        worst = std::max(worst, share);
      }
    });
    INFO("rule " << kind << " uses " << worst << " of C; " << refuted.value_or(""));
    CHECK_FALSE(refuted.has_value());
    // So an eighth of C would be refuted: the property can fail. `constant` (9) rounds nothing.
    if (kind < 9) CHECK(worst > 0.125);
  }
}

TEST_CASE("C bounds float for the models that people run", "[error_model]") {
  scaling::Yarn yarn;
  yarn.factor = 4;
  yarn.original_max_position_embeddings = 32768;
  const std::pair<Scaling, double> models[] = {{scaling::None{}, 10000},
                                               {scaling::None{}, 1e6},
                                               {scaling::Linear{{}, 8}, 10000},
                                               {scaling::Dynamic{{}, 2, 2048}, 10000},
                                               {yarn, 1e6},
                                               {scaling::Llama3{{}, 8, 1, 4, 8192}, 5e5},
                                               {scaling::Llama3{{}, 32, 1, 4, 8192}, 5e5}};
  for (const auto& [rule, base] : models) {
    for (const int dim : {64, 80, 96, 112, 128, 160, 192, 256}) {
      RopeSpec spec;
      spec.head_dim = spec.rotary_dim = dim;
      spec.base = base;
      spec.scaling = rule;
      INFO(to_flags(spec));
      CHECK(share_of_constant<float>(spec, 8192) <= 1);
    }
  }
}

}  // namespace
}  // namespace rope
