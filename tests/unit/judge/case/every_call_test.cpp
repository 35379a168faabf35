// Kernels that are never called in some ways: a case is given what their claims leave no choice of, and nothing else.
#include "tools/judge/case/every_call.hpp"

#include <catch2/catch.hpp>
#include <functional>

#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

using Catch::Contains;

Claims requiring(std::uint32_t features) {
  Claims claims = test::all_claims();
  claims.capabilities.required_features = features;
  return claims;
}

Claims with_layouts(std::uint32_t layouts) {
  Claims claims = requiring(layouts == ROPE_BIT(ROPE_LAYOUT_PACKED) ? ROPE_BIT(ROPE_FEATURE_KEY) : 0);
  claims.capabilities.layouts = layouts;
  claims.capabilities.features &= ~ROPE_BIT(ROPE_FEATURE_STRIDED);
  return claims;
}

Claims with_axes(std::uint32_t counts, std::uint32_t orders) {
  Claims claims = test::all_claims();
  claims.capabilities.axis_counts = counts;
  claims.capabilities.axis_orders = orders;
  return claims;
}

Claims with(std::uint32_t rope_capabilities::*field, std::uint32_t value) {
  Claims claims = test::all_claims();
  claims.capabilities.*field = value;
  return claims;
}

Case yarn_case() {
  Case c;
  c.source = AngleSource::computed;
  scaling::Yarn yarn;
  yarn.factor = 16;
  yarn.original_max_position_embeddings = 4096;
  c.spec.scaling = yarn;
  return c;
}

Case yarn_with(void (*change)(scaling::Yarn&)) {
  Case c = yarn_case();
  change(std::get<scaling::Yarn>(c.spec.scaling));
  return c;
}

TEST_CASE("a case that lacks what every call has is not covered, and is given it", "[every_call]") {
  const auto clamped = yarn_with([](scaling::Yarn& y) { y.clamp = scaling::Yarn::Clamp::pairs; });
  const auto exact = yarn_with([](scaling::Yarn& y) { y.truncate = false; });
  const auto with_mscale = yarn_with([](scaling::Yarn& y) { y.mscale = y.mscale_all_dim = 0.5; });
  Case factor_of_1 = yarn_case();
  factor_of_1.spec.attention_factor = 1;
  Case chunked;
  chunked.spec.axes.sections = {32, 16, 16};
  const struct {
    Claims claims;
    Case c;
    std::string lack;
    std::function<bool(const Case&)> has;
  } lacking[] = {
      {requiring(ROPE_BIT(ROPE_FEATURE_POSITIONS)), {}, "calls without given positions are not claimed",
       [](const Case& c) { return c.form == PositionForm::shared; }},
      {requiring(ROPE_BIT(ROPE_FEATURE_IN_PLACE)), {}, "calls out of place", [](const Case& c) { return c.in_place; }},
      {requiring(ROPE_BIT(ROPE_FEATURE_KEY)), {}, "calls without k", [](const Case& c) { return c.key_heads > 0; }},
      {with_layouts(ROPE_BIT(ROPE_LAYOUT_PACKED)), {}, "calls without k",
       [](const Case& c) { return c.layout == Layout::packed && c.key_heads > 0; }},
      {with_layouts(ROPE_BIT(ROPE_LAYOUT_HEADS_FIRST)), {}, "the layout contiguous is not claimed",
       [](const Case& c) { return c.layout == Layout::heads_first; }},
      {with_axes(ROPE_BIT(3), ROPE_BIT(ROPE_AXES_INTERLEAVED)), {}, "1 position axis is not claimed",
       [](const Case& c) {
         return c.spec.axes.sections == std::vector<int>{62, 1, 1} &&
                c.spec.axes.order == AxisLayout::Order::interleaved;
       }},
      {with_axes(0, ROPE_BIT(ROPE_AXES_INTERLEAVED)), chunked, "axes in the order chunked",
       [](const Case& c) { return c.spec.axes.order == AxisLayout::Order::interleaved; }},
      {with_axes(ROPE_BIT(1) | ROPE_BIT(2), 0), chunked, "3 position axes are not claimed",
       [](const Case& c) { return c.spec.axes.sections == std::vector<int>{63, 1}; }},
      {with(&rope_capabilities::yarn_clamp_pairs, ROPE_BIT(0)), clamped, "yarn with yarn_clamp_pairs 1 is not claimed",
       [](const Case& c) { return c.spec.scaling == yarn_case().spec.scaling; }},
      {with(&rope_capabilities::yarn_truncate, ROPE_BIT(1)), exact, "yarn with yarn_truncate 0 is not claimed",
       [](const Case& c) { return c.spec.scaling == yarn_case().spec.scaling; }},
      {with(&rope_capabilities::own_attention_factor, 1), factor_of_1, "an attention factor that is not the rule's own",
       [](const Case& c) { return !c.spec.attention_factor; }},
      {with(&rope_capabilities::own_attention_factor, 1), with_mscale, "an attention factor that is not the rule's own",
       [](const Case& c) { return c.spec.scaling == yarn_case().spec.scaling; }},
  };
  for (const auto& [claims, c, lack, has] : lacking) {
    INFO(lack);
    CHECK_THAT(uncovered(c, claims), Contains(lack));
    const std::optional<Case> given = claimed(c, claims);
    REQUIRE(given.has_value());
    CHECK(has(*given));
    CHECK(claimed(*given, claims) == given);
    CHECK(uncovered(c, test::all_claims()).empty());
  }
}

TEST_CASE("what a case asks for by itself stays, and is refused if it is not claimed", "[every_call]") {
  Case c;
  c.layout = Layout::strided;
  CHECK_FALSE(claimed(c, with_layouts(ROPE_BIT(ROPE_LAYOUT_HEADS_FIRST))).has_value());
  CHECK_THAT(uncovered(c, with_layouts(ROPE_BIT(ROPE_LAYOUT_CONTIGUOUS))), Contains("layout strided is not claimed"));
  c.layout = Layout::contiguous;
  c.output = OutputLayout::strided;
  CHECK_THAT(uncovered(c, with_layouts(ROPE_BIT(ROPE_LAYOUT_CONTIGUOUS))), Contains("outputs in another layout"));
  c.output = OutputLayout::as_input;
  c.out_dtype = DType::bf16;
  CHECK_FALSE(claimed(c, requiring(ROPE_BIT(ROPE_FEATURE_IN_PLACE))).has_value());
  c = Case{};
  c.form = PositionForm::seqlen_offsets;
  CHECK_FALSE(claimed(c, requiring(ROPE_BIT(ROPE_FEATURE_POSITIONS))).has_value());
  c = yarn_case();
  c.spec.attention_factor = 2;
  CHECK_FALSE(claimed(c, with(&rope_capabilities::own_attention_factor, 1)).has_value());
}

TEST_CASE("positions that are given in place of an offset are the same ones, on every axis", "[every_call]") {
  for (const std::vector<int>& sections : {std::vector<int>{}, {32, 16, 16}}) {
    Case c;
    c.batch = 2;
    c.start = 7;
    c.spec.axes.sections = sections;
    const std::optional<Case> given = claimed(c, requiring(ROPE_BIT(ROPE_FEATURE_POSITIONS)));
    REQUIRE(given.has_value());
    CHECK(gives_positions(given->form));
    CHECK(positions(*given) == positions(c));
  }
  Claims narrow = requiring(ROPE_BIT(ROPE_FEATURE_POSITIONS));
  narrow.capabilities.position_dtypes = ROPE_BIT(ROPE_I32);
  CHECK(claimed(Case{}, narrow)->position_dtype == DType::i32);
  // Axes that a case did not ask for tell nothing apart.
  Case one_axis;
  one_axis.form = PositionForm::shared;
  const std::optional<Case> given = claimed(one_axis, with_axes(ROPE_BIT(3), 0));
  REQUIRE(given.has_value());
  Case of_one = *given;
  of_one.spec.axes = {};
  const std::vector<std::int64_t> each = positions(of_one);
  const std::vector<std::int64_t> all = positions(*given);
  REQUIRE(all.size() == 3 * each.size());
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == each[i % each.size()]);
}

TEST_CASE("axes follow the number of pairs, also where there are fewer than axes", "[every_call]") {
  const Claims claims = with_axes(ROPE_BIT(3), 0);
  for (const int pairs : {1, 2, 3, 40}) {
    Case c;
    c.spec.head_dim = c.spec.rotary_dim = 128;
    c = *claimed(c, claims);
    c.spec.rotary_dim = 2 * pairs;  // as requirements change it
    const std::optional<Case> given = claimed(c, claims);
    REQUIRE(given.has_value());
    CHECK(given->spec.axes.count() == 3);
    CHECK_NOTHROW(validate(given->spec));
  }
}

TEST_CASE("a kernel that is not told the length of the sequence gets the length of the call", "[every_call]") {
  const Claims claims = with(&rope_capabilities::length_of_call, 1);
  Case c;
  c.source = AngleSource::computed;
  c.sequence_length = 4000;
  CHECK(uncovered(c, claims).empty());  // nothing follows it
  c.spec.scaling = scaling::Dynamic{};
  std::get<scaling::Dynamic>(c.spec.scaling).factor = 2;
  std::get<scaling::Dynamic>(c.spec.scaling).original_max_position_embeddings = 1024;
  CHECK_THAT(uncovered(c, claims), Contains("a sequence that is longer"));
  c.start = 3999 - (c.seq - 1);
  CHECK(uncovered(c, claims).empty());
  c.source = AngleSource::tables;
  c.start = 0;
  CHECK(uncovered(c, claims).empty());
}

TEST_CASE("what the claims say of every call has words", "[every_call]") {
  CHECK(words_of_every_call(test::all_claims()).empty());
  Claims claims = requiring(ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_KEY));
  rope_capabilities& k = claims.capabilities;
  k.layouts = ROPE_BIT(ROPE_LAYOUT_PACKED);
  k.axis_counts = ROPE_BIT(3);
  k.axis_orders = ROPE_BIT(ROPE_AXES_CHUNKED);
  k.yarn_clamp_pairs = ROPE_BIT(0);
  k.yarn_truncate = ROPE_BIT(0) | ROPE_BIT(1);  // all that there is
  k.own_attention_factor = k.length_of_call = 1;
  CHECK(words_of_every_call(claims) ==
        std::vector<std::string>{"in place", "q and k in one call", "the layout packed", "3 position axes",
                                 "axes in the order chunked", "yarn_clamp_pairs 0", "the rule's own attention factor",
                                 "a sequence as long as the largest position"});
}

TEST_CASE("for tables the attention factor is a feature, also if the kernel makes a rule's own", "[every_call]") {
  Claims claims = with(&rope_capabilities::own_attention_factor, 1);
  claims.capabilities.features &= ~ROPE_BIT(ROPE_FEATURE_ATTENTION_FACTOR);
  Case c = yarn_case();
  CHECK(uncovered(c, claims).empty());
  c.source = AngleSource::tables;
  CHECK_THAT(uncovered(c, claims), Contains("an attention factor is not claimed"));
}

}  // namespace
}  // namespace rope
