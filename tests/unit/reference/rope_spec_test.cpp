#include "reference/rope_spec.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <limits>

#include "reference/input_error.hpp"
#include "tests/unit/reference/random_spec.hpp"

namespace rope {
namespace {

using Catch::Contains;

// The message of validate() for the default spec after a change; empty if it is accepted.
template <class Change>
std::string refusal_after(Change change) {
  RopeSpec spec;
  change(spec);
  try {
    validate(spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a spec that contradicts itself is refused with field, value and limit", "[rope_spec]") {
  CHECK(refusal_after([](RopeSpec&) {}).empty());
  const auto rotary = [](int rotary_dim) { return refusal_after([=](RopeSpec& s) { s.rotary_dim = rotary_dim; }); };
  CHECK(rotary(2).empty());
  CHECK(rotary(128).empty());
  CHECK_THAT(rotary(63), Contains("rotary_dim is 63") && Contains("must be even"));
  CHECK_THAT(rotary(130), Contains("rotary_dim is 130") && Contains("2 to head_dim = 128"));
  CHECK_THAT(rotary(0), Contains("rotary_dim is 0") && Contains("2 to head_dim"));
  CHECK_THAT(rotary(-2), Contains("rotary_dim is -2") && Contains("2 to head_dim"));
  const auto offset = [](int rotary_offset) {
    return refusal_after([=](RopeSpec& s) { s.rotary_dim = 64, s.rotary_offset = rotary_offset; });
  };
  CHECK(offset(2).empty());
  CHECK(offset(64).empty());
  for (const int wrong : {-2, 3, 66}) CHECK_THAT(offset(wrong), Contains("0 to head_dim - rotary_dim = 64"));
  CHECK_THAT(refusal_after([](RopeSpec& s) { s.head_dim = 0; }), Contains("head_dim is 0") && Contains("at least 1"));

  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double base : {0.0, -1e4, infinity, nan}) {
    CHECK_THAT(refusal_after([=](RopeSpec& s) { s.base = base; }), Contains("base is ") && Contains("must be above 0"));
  }
  CHECK(refusal_after([](RopeSpec& s) { s.base = 1e-3; }).empty());
  for (const double factor : {infinity, -infinity, nan}) {
    CHECK_THAT(refusal_after([=](RopeSpec& s) { s.attention_factor = factor; }),
               Contains("attention_factor must be finite"));
  }
  CHECK_THAT(refusal_after([](RopeSpec& s) { s.xpos = XPos{0, 512, 0}; }), Contains("xpos.gamma must be above 0"));
  CHECK_THAT(refusal_after([](RopeSpec& s) { s.xpos = XPos{0.4, 0, 0}; }), Contains("xpos.scale_base must be above 0"));
}

TEST_CASE("sections of axes have to add up", "[rope_spec]") {
  const auto with = [](std::vector<int> sections, AxisLayout::Order order, bool restart) {
    return refusal_after([&](RopeSpec& s) { s.axes = {std::move(sections), order, restart}; });
  };
  constexpr auto chunked = AxisLayout::Order::chunked;
  CHECK(with({16, 24, 24}, chunked, false).empty());
  CHECK(with({32, 32}, chunked, true).empty());
  CHECK(with({64, 0, 0}, chunked, false).empty());
  CHECK_THAT(with({16, 24, 23}, chunked, false), Contains("add up to 63") && Contains("rotary_dim/2 = 64"));
  CHECK_THAT(with({16, 16, 16, 16}, chunked, false), Contains("4 entries") && Contains("1 to 3"));
  CHECK_THAT(with({-8, 72}, chunked, false), Contains("axes.sections must not be negative"));
  CHECK_THAT(with({32, 32}, AxisLayout::Order::interleaved, true), Contains("axes.restart") && Contains("chunked"));
}

TEST_CASE("a scaling rule names its invalid parameter", "[rope_spec]") {
  const auto with = [](const Scaling& rule, int rotary_dim = 128) {
    return refusal_after([&](RopeSpec& s) { s.scaling = rule, s.rotary_dim = rotary_dim; });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THAT(with(scaling::Linear{{}, 0}), Contains("scaling.factor must be above 0"));
  CHECK_THAT(with(scaling::Linear{{}, nan}), Contains("scaling.factor must be above 0"));
  CHECK_THAT(with(scaling::Ntk{{}, -1}), Contains("scaling.factor must be above 0"));
  CHECK_THAT(with(scaling::Ntk{{}, 2}, 2), Contains("rotary_dim above 2"));
  CHECK_THAT(with(scaling::Dynamic{{}, 0.5, 2048}), Contains("scaling.factor must be at least 1"));
  CHECK_THAT(with(scaling::Dynamic{{}, 2, 2048}, 2), Contains("rotary_dim above 2"));
  CHECK_THAT(with(scaling::Dynamic{{}, 2, 0}), Contains("original_max_position_embeddings must be above 0"));
  CHECK_THAT(with(scaling::Llama3{{}, 8, 4, 2, 8192}), Contains("high_freq_factor must be at least low_freq_factor"));
  CHECK(with(scaling::Llama3{{}, 8, 4, 4, 8192}).empty());
  // Pair 0 turns once in 2 pi positions.
  CHECK_THAT(with(scaling::Llama3{{}, 8, 1, 1, 6.28318}), Contains("one pair lies on the step"));
  CHECK(with(scaling::Llama3{{}, 8, 1, 1, 6.3}).empty());
  CHECK_THAT(with(scaling::Proportional{{}, 1, 1.5}), Contains("scaling.proportion must be 0 to 1"));
  CHECK_THAT(with(scaling::Proportional{{}, 1, 0.5}, 64), Contains("rotary_dim equal to head_dim"));
  CHECK_THAT(with(scaling::Pixel{{}, 0}), Contains("scaling.max_frequency must be above 0"));
  scaling::LongRope longrope{32, 4096, std::vector<double>(64, 1), std::vector<double>(63, 1)};
  CHECK_THAT(with(longrope), Contains("scaling.long_factor must hold rotary_dim/2 values"));
  longrope.long_factor.push_back(0);
  CHECK_THAT(with(longrope), Contains("short_factor and long_factor must be above 0"));
  longrope.long_factor.back() = 2;
  CHECK(with(longrope).empty());
  scaling::Yarn yarn;
  yarn.factor = 4;
  yarn.original_max_position_embeddings = 4096;
  CHECK(with(yarn).empty());
  CHECK_THAT(refusal_after([&](RopeSpec& s) { s.scaling = yarn, s.base = 1; }), Contains("base above 1"));
  yarn.beta_slow = 0;
  CHECK_THAT(with(yarn), Contains("scaling.beta_slow must be above 0 (found 0)"));
}

TEST_CASE("pairs follow axes in blocks or in turn", "[rope_spec]") {
  RopeSpec spec;
  spec.rotary_dim = 16;
  CHECK(axis_of_pairs(spec) == std::vector<int>(8, 0));
  spec.axes.sections = {2, 3, 3};
  CHECK(axis_of_pairs(spec) == std::vector<int>{0, 0, 1, 1, 1, 2, 2, 2});
  spec.axes.sections = {0, 8, 0};
  CHECK(axis_of_pairs(spec) == std::vector<int>(8, 1));
  // Qwen3-VL, mrope_interleaved. Below three times their sections, axis 1 takes pairs 1, 4, .. and axis 2 takes pairs
  // 2, 5, ..; axis 0 has all the rest.
  spec.axes = {{4, 2, 2}, AxisLayout::Order::interleaved, false};
  CHECK(axis_of_pairs(spec) == std::vector<int>{0, 1, 2, 0, 1, 2, 0, 0});
  spec.axes = {{5, 1, 2}, AxisLayout::Order::interleaved, false};
  CHECK(axis_of_pairs(spec) == std::vector<int>{0, 1, 2, 0, 0, 2, 0, 0});
  // As a test of a public plugin has it for vLLM 0.25.1, MRotaryEmbeddingInterleaved with force_last.
  spec.axes = {{2, 3, 3}, AxisLayout::Order::spread, false};
  CHECK(axis_of_pairs(spec) == std::vector<int>{0, 1, 2, 1, 2, 1, 2, 0});
  spec.axes = {{4, 4}, AxisLayout::Order::spread, false};
  CHECK(axis_of_pairs(spec) == std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1});
  spec.axes = {{1, 6, 1}, AxisLayout::Order::spread, false};
  CHECK(axis_of_pairs(spec) == std::vector<int>{1, 2, 1, 1, 1, 1, 1, 0});
  // ERNIE 4.5 VL.
  spec.axes = {{2, 3, 3}, AxisLayout::Order::others_first, false};
  CHECK(axis_of_pairs(spec) == std::vector<int>{1, 2, 1, 2, 1, 2, 0, 0});
  spec.axes = {{3, 1, 4}, AxisLayout::Order::others_first, false};
  CHECK(axis_of_pairs(spec) == std::vector<int>{1, 2, 2, 2, 2, 0, 0, 0});
}

TEST_CASE("the random specs of these tests are valid", "[rope_spec]") {
  rc::prop("of every rule", [] {
    const RopeSpec spec = test::any_spec();
    validate(spec);  // an exception fails the property
    const std::vector<int> axis = axis_of_pairs(spec);
    RC_ASSERT(axis.size() == static_cast<std::size_t>(spec.rotary_dim / 2));
    RC_ASSERT(std::all_of(axis.begin(), axis.end(), [&](int a) { return a >= 0 && a < spec.axes.count(); }));
  });
}

}  // namespace
}  // namespace rope
