#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <numbers>
#include <set>
#include <string>

#include "reference/axis_orders.hpp"
#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/case/any_case.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope {
namespace {

TEST_CASE("ANG-07 tries every order of axes", "[angle]") {
  Selection selection;
  selection.level = Level::quick;
  CaseList list("ANG-07", test::all_claims(), selection, nullptr);
  requirement_called("ANG-07").cases(list);
  std::set<AxisLayout::Order> tried;
  for (const Case& c : list.take()) {
    if (c.spec.axes.sections.size() == 3 && c.spec.axes.sections.back() > 0) tried.insert(c.spec.axes.order);
  }
  CHECK(tried.size() == axis_orders().size());
}

std::set<std::string> rules_of_one_pair(std::vector<std::int32_t> head_dims) {
  Claims few_claims = test::all_claims();
  few_claims.head_dims = std::move(head_dims);
  Selection selection;
  selection.level = Level::quick;
  CaseList list("ANG-04", few_claims, selection, nullptr);
  requirement_called("ANG-04").cases(list);
  std::set<std::string> rules;
  for (const Case& c : list.take()) {
    if (c.spec.rotary_dim == 2) rules.emplace(kind_of(c.spec.scaling));
  }
  return rules;
}

TEST_CASE("ANG-04: each rule that can have a single pair is tested with one", "[angle]") {
  const std::set<std::string> rules{"constant", "linear", "llama3", "longrope", "pixel", "proportional", "yarn"};
  CHECK(rules_of_one_pair({}) == rules);
  // Proportional defines its own part of the head, so it is never tested on a part.
  std::set<std::string> partial = rules;
  partial.erase("proportional");
  CHECK(rules_of_one_pair({64, 128}) == partial);
}

TEST_CASE("ANG-03: the longest table has a row for each position up to the level's limit", "[angle]") {
  const auto longest_table = [](Level level) {
    Claims claims = test::all_claims();
    claims.far_tensors = false;  // else only the last rows exist, and tables reach any position
    claims.capabilities.max_position = std::int64_t{1} << 30;
    Selection selection;
    selection.level = level;
    CaseList list("ANG-03", claims, selection, nullptr);
    requirement_called("ANG-03").cases(list);
    std::int64_t longest = 0;
    for (const Case& c : list.take()) {
      if (c.source == AngleSource::tables) longest = std::max(longest, largest_position(c));
    }
    return longest;
  };
  CHECK(longest_table(Level::quick) == std::int64_t{1} << 20);
  CHECK(longest_table(Level::full) == std::int64_t{1} << 22);
  CHECK(longest_table(Level::exhaustive) == std::int64_t{1} << 24);
}

TEST_CASE("ANG-03: the largest claimed position is asked for, and none beyond it", "[angle]") {
  for (const std::int64_t most : {100, 5000, 1 << 24, INT32_MAX}) {
    Claims claims = test::all_claims();
    claims.capabilities.max_position = most;
    Selection selection;
    selection.level = Level::quick;
    CaseList list("ANG-03", claims, selection, nullptr);
    requirement_called("ANG-03").cases(list);
    std::int64_t longest = 0;
    for (const Case& c : list.take()) longest = std::max(longest, largest_position(c));
    CHECK(longest == most);
  }
}

TEST_CASE("a kernel that claims only one scaling rule is tested with that rule", "[angle]") {
  Claims yarn_only = test::all_claims();
  yarn_only.capabilities.angle_sources = ROPE_BIT(ROPE_COMPUTED);
  yarn_only.capabilities.scalings = ROPE_BIT(ROPE_SCALING_YARN);
  CaseList list("ANG-04", yarn_only, {}, nullptr);
  requirement_called("ANG-04").cases(list);
  const std::vector<Case> cases = list.take();
  CHECK(cases.size() > 10);
  for (const Case& c : cases) CHECK(std::holds_alternative<scaling::Yarn>(c.spec.scaling));
}

TEST_CASE("ANG-03: given positions that are cut to 32 bits are found", "[angle]") {
  Claims claims = test::all_claims();
  rope_capabilities& k = claims.capabilities;
  for (std::uint32_t& outputs : k.out_dtypes) outputs = 0;
  k.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  k.angle_sources = ROPE_BIT(ROPE_FREQUENCIES);
  k.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  k.max_position = std::int64_t{1} << 34;
  const auto verdict = [&](bool cuts) {
    test::Fake subject(claims, [=](Call& call) {
      if (!call.positions || call.positions->dtype != DType::i64 || !cuts) return test::right(call);
      Call cut = call;
      for (std::size_t at = 0; at < cut.positions->bytes.size(); at += 8) {
        std::int64_t value = 0;
        std::memcpy(&value, cut.positions->bytes.data() + at, 8);
        value = static_cast<std::int32_t>(value);
        std::memcpy(cut.positions->bytes.data() + at, &value, 8);
      }
      const Reply reply = test::right(cut);
      call.q_out = cut.q_out;
      return reply;
    });
    Oracles oracles;
    SuiteOptions how;
    how.selection.level = Level::quick;
    how.selection.only = {"ANG-03"};
    how.shrinks = false;
    return run_suite(subject, oracles, all_requirements(), how).results.at(0).verdict;
  };
  CHECK(verdict(false) == Verdict::pass);
  CHECK(verdict(true) == Verdict::fail);
}

// yarn's ramp from the pair that turns beta_fast times, at pair 0 or later, to the one that turns beta_slow times. With
// `below`, its lower end may lie before pair 0.
Reply yarn(Call& call, bool below) {
  const auto& rule = std::get<scaling::Yarn>(call.scaling);
  const double dims = call.rotary_dim;
  const auto end = [&](double turns, double (*rounding)(double)) {
    const double length = rule.original_max_position_embeddings;
    const double pair = dims * std::log(length / (2 * std::numbers::pi * turns)) / (2 * std::log(call.base));
    return rule.truncate ? rounding(pair) : pair;
  };
  const double most = rule.clamp == scaling::Yarn::Clamp::pairs ? dims / 2 - 1 : dims - 1;
  const double first = end(rule.beta_fast, std::floor), low = below ? first : std::max(first, 0.0);
  const double high = std::min(end(rule.beta_slow, std::ceil), most), width = high == low ? 0.001 : high - low;
  Call given = call;
  given.source = AngleSource::frequencies;
  given.theta = Tensor::contiguous(DType::f64, {call.rotary_dim / 2});
  for (int p = 0; p < call.rotary_dim / 2; ++p) {
    const double plain = std::pow(call.base, -2 * p / dims), ramp = std::clamp((p - low) / width, 0.0, 1.0);
    store(DType::f64, given.theta->data() + 8 * p, plain * (1 - ramp) + plain / rule.factor * ramp);
  }
  const Reply reply = test::right(given);
  call.q = given.q;
  call.q_out = given.q_out;
  return reply;
}

TEST_CASE("ANG-04: a yarn whose ramp may begin before pair 0 is rejected", "[angle]") {
  Claims claims = test::narrow_claims();
  claims.capabilities.scalings = ROPE_BIT(ROPE_SCALING_NONE) | ROPE_BIT(ROPE_SCALING_YARN);
  const auto verdict = [&](bool below) {
    test::Fake subject(claims, [below](Call& call) {
      return std::holds_alternative<scaling::Yarn>(call.scaling) ? yarn(call, below) : test::right(call);
    });
    Oracles oracles;
    SuiteOptions how;
    how.selection.level = Level::quick;
    how.selection.only = {"ANG-04"};
    return run_suite(subject, oracles, all_requirements(), how).results.at(0).verdict;
  };
  CHECK(verdict(false) == Verdict::pass);
  CHECK(verdict(true) == Verdict::fail);
}

}  // namespace
}  // namespace rope
