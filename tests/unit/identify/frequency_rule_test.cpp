#include "tools/identify/frequency_rule.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "reference/rotation_plan.hpp"
#include "tools/identify/geometric.hpp"
#include "tools/identify/phase.hpp"

namespace rope {
namespace {

// The frequencies of `executed`, from a kernel that is told `told`.
FrequencyQuestion question_of(const RopeSpec& executed, const RopeSpec& told, double error) {
  FrequencyQuestion question;
  question.spec = told;
  question.sequence_length = 1 << 20;
  for (const RotatedPair& pair : compile(executed, question.sequence_length).pairs) {
    question.theta.push_back({wrapped(pair.theta.to_double()), error});
  }
  return question;
}

RopeSpec spec_of(double base, Scaling scaling = {}) {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = 64;
  spec.base = base;
  spec.scaling = std::move(scaling);
  return spec;
}

FrequencyRule found(const RopeSpec& executed, double error = 1e-12) {
  const auto rules = frequency_rules(question_of(executed, spec_of(10'000), error), 0x1p-40);
  REQUIRE_FALSE(rules.empty());
  return rules.front();
}

TEST_CASE("rule: each is found though the kernel was told base 10000 and no scaling", "[identify]") {
  CHECK(found(spec_of(10'000)).words == "base 10000");
  CHECK(found(spec_of(500'000)).words == "base 500000");
  CHECK(found(spec_of(10'000, scaling::Linear{{}, 4})).words == "linear, factor 4, base 10000");
  CHECK(found(spec_of(1e6, scaling::Linear{{}, 0.25})).words == "linear, factor 0.25, base 1000000");
  CHECK(found(spec_of(10'000, scaling::Constant{})).words == "constant: every pair turns one radian a position");
  CHECK(found(spec_of(10'000, scaling::Pixel{{}, 10})).words == "pixel, max_frequency 10");
  CHECK(found(spec_of(10'000, scaling::Proportional{{}, 1, 0.5})).words ==
        "proportional, proportion 0.5, factor 1, base 10000");

  scaling::Yarn yarn;
  yarn.factor = 4;
  yarn.original_max_position_embeddings = 4096;
  CHECK_THAT(found(spec_of(10'000, yarn)).words, Catch::StartsWith("yarn, factor 4, original length 4096"));
  CHECK_THAT(found(spec_of(1e6, yarn)).words, Catch::EndsWith("base 1000000"));

  const scaling::Llama3 llama{{}, 8, 1, 4, 8192};
  const FrequencyRule rule = found(spec_of(500'000, llama));
  CHECK_THAT(rule.words, Catch::StartsWith("llama3, factor 8, original length 8192"));
  CHECK(std::get<scaling::Llama3>(rule.spec.scaling).high_freq_factor == Approx(4));
}

TEST_CASE("rule: ntk is another base, and is reported as both", "[identify]") {
  const FrequencyRule rule = found(spec_of(10'000, scaling::Ntk{{}, 4}));
  CHECK(rule.spec.base == Approx(10'000 * std::pow(4, 64.0 / 62)).epsilon(1e-8));
  REQUIRE(rule.also.size() == 1);
  CHECK(rule.also[0] == "ntk, factor 4, base 10000");
}

TEST_CASE("rule: base is known as well as theta is", "[identify]") {
  for (const double error : {1e-12, 1e-8, 1e-5}) {
    const FrequencyRule rule = found(spec_of(12'345.678), error);
    CHECK(std::fabs(rule.spec.base / 12'345.678 - 1) <= rule.base_error);
    CHECK(rule.base_error < 100 * error * 12'345.678);
  }
}

TEST_CASE("rule: arbitrary frequencies fit no rule", "[identify]") {
  FrequencyQuestion question = question_of(spec_of(10'000), spec_of(10'000), 1e-12);
  for (std::size_t p = 0; p < question.theta.size(); ++p) question.theta[p].value *= 1 + 0.01 * std::sin(double(p * p));
  const auto rules = frequency_rules(question, 0x1p-40);
  REQUIRE(rules.size() == 1);
  CHECK_THAT(rules[0].words, Catch::StartsWith("no rule that is known"));
  question.theta[5].value = 0;  // no divisor makes theta 0
  CHECK(frequency_rules(question, 0x1p-40).empty());
}

TEST_CASE("rule: readings of another base", "[identify]") {
  RopeSpec partial = spec_of(10'000);
  partial.rotary_dim = 32;
  RopeSpec over_head = partial;
  over_head.base = std::sqrt(10'000);  // 10000^(32/64)
  const auto rules = frequency_rules(question_of(over_head, partial, 1e-12), 0x1p-40);
  REQUIRE_FALSE(rules.empty());
  CHECK_THAT(rules[0].also[0], Catch::Contains("exponents over head_dim 64"));
  const FrequencyRule rising = found(spec_of(1e-4));
  CHECK_THAT(rising.also.at(0), Catch::Contains("its sign lost"));
}

TEST_CASE("geometric: whole turns are put back, at either end", "[identify]") {
  for (const double base : {1e-4, 10'000.0}) {
    for (const double start : {1.0, 5.5}) {
      std::vector<GeometricPoint> points;
      for (int p = 0; p < 32; ++p) {
        const double theta = start * std::pow(base, -p / 32.0);
        points.push_back({-p / 32.0, wrapped(theta), 1e-12});
      }
      if (base < 1 && start > 1) continue;  // then no theta is below one turn
      const auto fit = fit_geometric(points, 0x1p-40);
      REQUIRE(fit.has_value());
      CHECK(fit->base == Approx(base).epsilon(1e-7));
      CHECK(fit->start == Approx(start).epsilon(1e-7));
    }
  }
}

}  // namespace
}  // namespace rope
