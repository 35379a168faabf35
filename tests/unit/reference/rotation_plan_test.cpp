// Plans against numbers from elsewhere. "mpmath" in a comment: the published formula was evaluated at 60 digits with
// mpmath 1.3.0, and is given to 20. Read as a double, the number has to be theta rounded to double.
#include "reference/rotation_plan.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "reference/input_error.hpp"
#include "tests/unit/reference/random_spec.hpp"

namespace rope {
namespace {

RopeSpec spec_of(int rotary_dim, const Scaling& scaling = {}, double base = 10000) {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = rotary_dim;
  spec.base = base;
  spec.scaling = scaling;
  return spec;
}

double theta(const RotationPlan& plan, std::size_t pair) { return plan.pairs.at(pair).theta.to_double(); }

struct Expected {
  std::size_t pair;
  double theta;
};

void check_theta(const RopeSpec& spec, std::int64_t sequence_length, std::initializer_list<Expected> expected) {
  const RotationPlan plan = compile(spec, sequence_length);
  for (const Expected& e : expected) {
    INFO("pair " << e.pair << ", length " << sequence_length);
    CHECK(theta(plan, e.pair) == e.theta);
  }
}

using Indices = std::vector<std::pair<int, int>>;

Indices features(const RotationPlan& plan) {
  Indices result;
  for (const RotatedPair& pair : plan.pairs) result.emplace_back(pair.first, pair.second);
  return result;
}

TEST_CASE("half-split pairs lie half of rotary_dim apart, interleaved ones side by side", "[rotation_plan]") {
  RopeSpec spec = spec_of(8);
  CHECK(features(compile(spec, 1)) == Indices{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  spec.pairing = Pairing::interleaved;
  CHECK(features(compile(spec, 1)) == Indices{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
}

TEST_CASE("a partial rotary leaves the last features unchanged and counts the exponent over rotary_dim",
          "[rotation_plan]") {
  RopeSpec spec = spec_of(8);
  spec.head_dim = 20;
  const RotationPlan plan = compile(spec, 1);
  CHECK(plan.head_dim == 20);
  CHECK(features(plan) == Indices{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  for (std::size_t p = 0; p < 4; ++p) CHECK(theta(plan, p) == theta(compile(spec_of(8), 1), p));
  spec.pairing = Pairing::interleaved;
  CHECK(features(compile(spec, 1)) == Indices{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
}

TEST_CASE("every plan pairs each of the first rotary_dim features once", "[rotation_plan]") {
  rc::prop("for random specs", [] {
    const RopeSpec spec = test::any_spec();
    const RotationPlan plan = compile(spec, 100);
    const std::vector<int> axis = axis_of_pairs(spec);
    std::vector<int> seen(static_cast<std::size_t>(spec.head_dim), 0);
    for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
      ++seen.at(static_cast<std::size_t>(plan.pairs[p].first));
      ++seen.at(static_cast<std::size_t>(plan.pairs[p].second));
      RC_ASSERT(plan.pairs[p].axis == axis.at(p));
    }
    for (int j = 0; j < spec.head_dim; ++j) {
      RC_ASSERT(seen[static_cast<std::size_t>(j)] == (j < spec.rotary_dim ? 1 : 0));
    }
    RC_ASSERT(!plan.magnitude.has_value());
  });
}

TEST_CASE("M-RoPE assigns axes to pairs and keeps theta of the whole head", "[rotation_plan]") {
  RopeSpec spec = spec_of(128, {}, 1000000);
  const RotationPlan plain = compile(spec, 1);
  spec.axes.sections = {16, 24, 24};  // Qwen2-VL's mrope_section
  const RotationPlan plan = compile(spec, 1);
  for (std::size_t p = 0; p < 64; ++p) {
    CHECK(plan.pairs[p].axis == (p < 16 ? 0 : p < 40 ? 1 : 2));
    CHECK(theta(plan, p) == theta(plain, p));
  }
}

TEST_CASE("rotary features may follow others", "[rotation_plan]") {
  RopeSpec spec = spec_of(8);
  spec.head_dim = 24;
  spec.rotary_offset = 10;
  const int features[2][4][2] = {{{10, 14}, {11, 15}, {12, 16}, {13, 17}}, {{10, 11}, {12, 13}, {14, 15}, {16, 17}}};
  for (const Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
    spec.pairing = pairing;
    const RotationPlan plan = compile(spec, 1);
    for (std::size_t p = 0; p < 4; ++p) {
      CHECK(plan.pairs[p].first == features[static_cast<int>(pairing)][p][0]);
      CHECK(plan.pairs[p].second == features[static_cast<int>(pairing)][p][1]);
      CHECK(theta(plan, p) == theta(compile(spec_of(8), 1), p));
    }
  }
}

TEST_CASE("2-D axial frequencies start again on each axis", "[rotation_plan]") {
  RopeSpec spec = spec_of(8);
  spec.axes = {{2, 2}, AxisLayout::Order::chunked, true};
  const RotationPlan plan = compile(spec, 1);
  const int axis[] = {0, 0, 1, 1};
  const double expected[] = {1, 0.01, 1, 0.01};  // 10000^(-2p/4), p = 0, 1
  for (std::size_t p = 0; p < 4; ++p) {
    CHECK(plan.pairs[p].axis == axis[p]);
    CHECK(theta(plan, p) == expected[p]);
  }
}

TEST_CASE("the 64 frequencies that a notebook prints for head size 128", "[rotation_plan]") {
  // seeds/003: `10_000 ** ((-2 * torch.arange(0, hs//2)) / hs)`, five digits.
  const double printed[] = {1.0000,  0.86596, 0.74989, 0.64938, 0.56234, 0.48697, 0.42170, 0.36517,
                            0.31623, 0.27384, 0.23714, 0.20535, 0.17783, 0.15399, 0.13335, 0.11548};
  const RotationPlan plan = compile(spec_of(128), 1);
  REQUIRE(plan.pairs.size() == 64);
  for (std::size_t p = 0; p < 64; ++p) {
    const double decade = std::pow(10.0, -static_cast<double>(p / 16));
    // Half a unit of the fifth digit: the precision of a printed number.
    CHECK(std::fabs(theta(plan, p) / decade - printed[p % 16]) <= (p % 16 == 0 ? 0.5e-4 : 0.5e-5));
  }
  CHECK(theta(plan, 16) == 0.1);
  CHECK(theta(plan, 32) == 0.01);
  CHECK(theta(plan, 48) == 0.001);
}

TEST_CASE("theta without scaling", "[rotation_plan]") {
  check_theta(spec_of(8), 1, {{0, 1}, {1, 0.1}, {2, 0.01}, {3, 0.001}});
  check_theta(spec_of(6, {}, 500000), 1,
              {{0, 1}, {1, 0.012599210498948731648}, {2, 0.00015874010519681994748}});  // mpmath
  CHECK(compile(spec_of(8), 1).lambda == 1);
}

TEST_CASE("theta to 256 bits, also where it comes from the embedded table", "[rotation_plan]") {
  const Real power = compile(spec_of(128), 1).pairs[32].theta * Real(100);  // 10000^(-1/2) = 1/100
  const Real error = power - Real(1);
  CHECK(std::fabs(error.to_double()) <= 0x1p-254);
  CHECK(compile(spec_of(8), 1).pairs[2].theta * Real(100) == Real(1));
}

TEST_CASE("linear divides theta by the factor", "[rotation_plan]") {
  check_theta(spec_of(8, scaling::Linear{{}, 3}), 1, {{0, 1.0 / 3}, {1, 0.1 / 3}, {3, 0.00033333333333333333333}});
}

TEST_CASE("NTK stretches the base: the fastest pair stays, the slowest is divided by the factor", "[rotation_plan]") {
  check_theta(spec_of(8, scaling::Ntk{{}, 4}), 1,  // mpmath, base 10000 * 4^(8/6)
              {{0, 1}, {1, 0.062996052494743658238}, {2, 0.0039685026299204986869}, {3, 0.00025}});
}

TEST_CASE("dynamic NTK changes nothing up to the original length, and everything beyond", "[rotation_plan]") {
  const RopeSpec spec = spec_of(8, scaling::Dynamic{{}, 2, 2048});
  for (const std::int64_t length : {0, 1, 2047, 2048}) {
    check_theta(spec, length, {{0, 1}, {1, 0.1}, {2, 0.01}, {3, 0.001}});
  }
  check_theta(spec, 2049,  // mpmath, base 10000 * (2 * 2049/2048 - 1)^(8/6)
              {{0, 1}, {1, 0.099967469093345408724}, {2, 0.0099934948769289695146}, {3, 0.00099902439024390243902}});
  check_theta(spec, 8192,  // mpmath, base 10000 * 7^(8/6)
              {{0, 1}, {1, 0.052275795857471021675}, {2, 0.0027327588325319844303}, {3, 0.00014285714285714285714}});
}

TEST_CASE("yarn keeps the fast pairs, divides the slow ones and joins them by a ramp", "[rotation_plan]") {
  scaling::Yarn yarn;
  yarn.factor = 4;
  yarn.original_max_position_embeddings = 4096;
  // mpmath, arXiv 2309.00071: pairs that turn 32 times and once are 20.94 and 45.03, so the ramp runs from 20 to 46.
  check_theta(spec_of(128, yarn), 1,
              {{0, 1},
               {20, 0.056234132519034908039},
               {21, 0.047292038501684783277},
               {33, 0.0054122770210004084522},
               {45, 0.00042940258899735834325},
               {46, 0.00033338035804083100642},
               {63, 0.000028869549617236454492}});
  const RotationPlan plain = compile(spec_of(128), 1);
  const RotationPlan plan = compile(spec_of(128, yarn), 1);
  CHECK(theta(plan, 20) == theta(plain, 20));
  CHECK(theta(plan, 46) == theta(plain, 46) / 4);

  yarn.truncate = false;  // the ramp runs from 20.944482 to 45.026881
  check_theta(spec_of(128, yarn), 1,
              {{20, 0.056234132519034908039},
               {21, 0.048612555193470154},
               {33, 0.0054084154801854513928},
               {45, 0.00038627080494978242042},
               {46, 0.00033338035804083100642}});

  yarn.truncate = true;
  yarn.beta_fast = 16;  // the ramp runs from 25 to 41
  yarn.beta_slow = 2;
  check_theta(spec_of(128, yarn), 1,
              {{20, 0.056234132519034908039},
               {30, 0.010209773465000449572},
               {40, 0.00093880118036248761419},
               {46, 0.00033338035804083100642}});
}

TEST_CASE("yarn as gpt-oss has it, ends of the ramp not rounded", "[rotation_plan]") {
  scaling::Yarn yarn;
  yarn.factor = 32;
  yarn.original_max_position_embeddings = 4096;
  yarn.truncate = false;
  check_theta(spec_of(64, yarn, 150000), 1,  // mpmath, ramp from 8.0927791 to 17.398025
              {{7, 0.073744568210260814088},
               {8, 0.050813274815461473628},
               {12, 0.0067949594897322178331},
               {17, 0.00012931870124506272061},
               {18, 0.000038308812373753382914}});
}

TEST_CASE("yarn's ramp ends at rotary_dim - 1 or at the last pair", "[rotation_plan]") {
  scaling::Yarn yarn;
  yarn.factor = 32;
  yarn.original_max_position_embeddings = 131072;
  // mpmath: for base 150 the pairs sought are 20 and far beyond 31. Clamped at 31, the ramp begins at 20, behind every
  // pair. Clamped at 15, its end lies before its beginning, and every pair counts as slow.
  check_theta(spec_of(32, yarn, 150), 1,
              {{0, 1}, {1, 0.73112948132592872353}, {8, 0.081649658092772603273}, {15, 0.0091183119227752038916}});
  yarn.clamp = scaling::Yarn::Clamp::pairs;
  check_theta(
      spec_of(32, yarn, 150), 1,
      {{0, 0.03125}, {1, 0.02284779629143527261}, {8, 0.0025515518153991438523}, {15, 0.00028494724758672512161}});
}

TEST_CASE("yarn's lambda is 0.1 ln(factor) + 1, or DeepSeek's quotient of two such", "[rotation_plan]") {
  scaling::Yarn yarn;
  yarn.original_max_position_embeddings = 4096;
  const auto lambda = [&] { return compile(spec_of(64, yarn), 1).lambda; };
  yarn.factor = 4;
  CHECK(lambda() == 1.1386294361119890619);  // mpmath
  yarn.factor = 40;
  CHECK(lambda() == 1.3688879454113936303);  // mpmath
  yarn.mscale = 1;
  CHECK(lambda() == 1.3688879454113936303);  // it needs both
  yarn.mscale_all_dim = 0.707;
  CHECK(lambda() == Approx(1.0857263992561356641).epsilon(1e-15));  // mpmath, with 0.707 exact; here it is a double
  yarn.mscale = 0.707;
  CHECK(lambda() == 1);  // DeepSeek-V2: the two are equal
  yarn.factor = 0.5;
  yarn.mscale = 1;
  CHECK(lambda() == 1);  // f(m) = 1 where the factor is at most 1
  RopeSpec spec = spec_of(64, yarn);
  spec.attention_factor = 0.75;
  CHECK(compile(spec, 1).lambda == 0.75);
}

TEST_CASE("longrope has short factors up to and including the original length, long ones beyond", "[rotation_plan]") {
  const RopeSpec spec = spec_of(4, scaling::LongRope{32, 4096, {1, 1.25}, {1.5, 64}});
  for (const std::int64_t length : {1, 4095, 4096}) check_theta(spec, length, {{0, 1}, {1, 0.008}});
  for (const std::int64_t length : {4097, 131072}) check_theta(spec, length, {{0, 2.0 / 3}, {1, 0.00015625}});
  for (const std::int64_t length : {1, 4096, 4097}) {
    CHECK(compile(spec, length).lambda == 1.190238071423808333);  // mpmath, sqrt(1 + ln 32/ln 4096), at every length
  }
  CHECK(compile(spec_of(4, scaling::LongRope{1, 4096, {1, 1.25}, {1.5, 64}}), 1).lambda == 1);
}

TEST_CASE("llama3 has three bands of wavelengths", "[rotation_plan]") {
  const RopeSpec spec = spec_of(128, scaling::Llama3{{}, 8, 1, 4, 8192}, 500000);  // Llama 3.1
  check_theta(spec, 1,  // mpmath, by wavelength as Meta's apply_scaling has it
              {{0, 1},
               {1, 0.8146172338565447041},
               {28, 0.0032114459947525910185},
               {29, 0.0021665707635033586093},
               {30, 0.0013718935677611381604},
               {31, 0.00085675141291963208107},
               {34, 0.00017850781276799641852},
               {35, 0.000095562123539646830199},
               {36, 0.000077846552739324497444},
               {63, 3.0689259889145110891e-7}});
  const RotationPlan plain = compile(spec_of(128, {}, 500000), 1);
  const RotationPlan plan = compile(spec, 1);
  for (std::size_t p = 0; p < 64; ++p) {
    const double quotient = theta(plain, p) / theta(plan, p);
    if (p < 29) CHECK(quotient == 1);
    if (p >= 29 && p < 35) CHECK((quotient > 1 && quotient < 8));
    if (p >= 35) CHECK(quotient == 8);
  }
  CHECK(plan.lambda == 1);
}

TEST_CASE("llama3 with equal factors is a step between two wavelengths", "[rotation_plan]") {
  const RopeSpec spec = spec_of(128, scaling::Llama3{{}, 16, 1, 1, 8192}, 500000);  // Llama 4 Scout
  check_theta(spec, 1,  // mpmath, by wavelength as Meta's apply_scaling has it; pair 35 turns 0.9967 times
              {{0, 1},
               {1, 0.8146172338565447041},
               {33, 0.0011520427402627807396},
               {34, 0.00093847387035738024707},
               {35, 0.000047781061769823415099},
               {36, 0.000038923276369662248722},
               {63, 1.5344629944572555445e-7}});
}

TEST_CASE("proportional turns the first pairs only, spaced over the whole head", "[rotation_plan]") {
  const RotationPlan plan = compile(spec_of(16, scaling::Proportional{{}, 8, 0.25}), 1);
  CHECK(theta(plan, 0) == 0.125);
  CHECK(theta(plan, 1) == 0.03952847075210474165);  // mpmath, 10000^(-2/16) / 8
  for (std::size_t p = 2; p < 8; ++p) CHECK(theta(plan, p) == 0);
  CHECK(theta(compile(spec_of(16, scaling::Proportional{{}, 1, 0.24}), 1), 1) == 0);  // floor(0.24 * 16 / 2) = 1
}

TEST_CASE("pixel runs evenly from pi to pi max_frequency/2, constant is 1", "[rotation_plan]") {
  check_theta(
      spec_of(8, scaling::Pixel{{}, 10}), 1,  // mpmath
      {{0, 3.1415926535897932385}, {1, 7.3303828583761842231}, {2, 11.519173063162575208}, {3, 15.707963267948966192}});
  check_theta(spec_of(2, scaling::Pixel{{}, 10}), 1, {{0, 3.1415926535897932385}});
  check_theta(spec_of(6, scaling::Constant{}, 1234), 1, {{0, 1}, {1, 1}, {2, 1}});
}

TEST_CASE("frequencies that no kernel can follow are refused", "[rotation_plan]") {
  using Catch::Contains;
  const std::string allowed = "allowed are 1000 radians a position";
  const auto check = [](const RopeSpec& spec) { check_frequencies(compile(spec, 1)); };
  CHECK_THROWS_WITH(check(spec_of(8, scaling::Linear{{}, 1e-300})),
                    Contains("the frequency of pair 0 is 1e+300; " + allowed));
  CHECK_THROWS_WITH(check(spec_of(8, {}, 1e-300)), Contains("the frequency of pair 1 is 1e+75; " + allowed));
  CHECK_NOTHROW(check(spec_of(8, scaling::Linear{{}, 1e-3})));
}

TEST_CASE("xPos adds a magnitude to each pair", "[rotation_plan]") {
  RopeSpec spec = spec_of(8);
  spec.xpos = XPos{0.4, 512, 3};
  const RotationPlan plan = compile(spec, 1);
  REQUIRE(plan.magnitude.has_value());
  CHECK(plan.magnitude->scale_base == 512);
  CHECK(plan.magnitude->center == 3);
  // (2p/8 + 0.4) / 1.4: 2/7, 13/28, 9/14, 23/28
  const double expected[] = {2.0 / 7, 13.0 / 28, 9.0 / 14, 23.0 / 28};
  for (std::size_t p = 0; p < 4; ++p) CHECK(plan.magnitude->zeta[p] == Approx(expected[p]).epsilon(1e-15));
}

TEST_CASE("a spec that contradicts itself is not compiled", "[rotation_plan]") {
  RopeSpec spec = spec_of(8);
  spec.rotary_dim = 7;
  CHECK_THROWS_AS(compile(spec, 1), InputError);
}

}  // namespace
}  // namespace rope

TEST_CASE("frequencies by one logarithm are powers to the last bit", "[rotation_plan]") {
  // Of 16 and 4096 some are powers of two, which no approximation can tell from their neighbours.
  for (const double base : {1e4, 5e5, 16.0, 4096.0, 1.5, 1e300}) {
    for (const int rotary_dim : {2, 64, 80, 130}) {
      const std::vector<rope::Real> theta = rope::scaling::unscaled(rope::Real(base), rotary_dim);
      REQUIRE(theta.size() == static_cast<std::size_t>(rotary_dim / 2));
      for (int p = 0; p < rotary_dim / 2; ++p) {
        const rope::Real exponent = rope::Real(-2 * p) / rope::Real(rotary_dim);
        CHECK(theta[static_cast<std::size_t>(p)] == pow(rope::Real(base), exponent));
      }
    }
  }
}
