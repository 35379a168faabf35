#include "tools/diagnose/model.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include "reference/input_error.hpp"
#include "tests/unit/judge/case/any_case.hpp"
#include "tests/unit/diagnose/modelled_call.hpp"
#include "tools/diagnose/hypothesis.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/random_case.hpp"
#include "tools/judge/verdict/judge.hpp"

using namespace rope;
using namespace rope::test;

namespace {

// A case for a kernel with all claims, drawn from a stream of numbers.
Case drawn(rc::Random& random) {
  static const Claims claims = all_claims();
  return *random_case(random, claims, 1'000'000, [](Case& c) {
    c.start %= c.source == AngleSource::tables ? 500 : 1 << 22;  // tables hold a row for every position
  });
}

// What random cases seldom have: many tokens, heads and features, far positions, lengths around the original one.
std::vector<Case> uncommon() {
  std::vector<Case> all;
  const auto add = [&](auto change) {
    Case c;
    c.source = AngleSource::computed;
    c.spec.head_dim = c.spec.rotary_dim = 16;
    c.seq = 3;
    c.start = 5;
    change(c);
    all.push_back(c);
  };
  add([](Case& c) { c.seq = 300; });
  add([](Case& c) {
    c.seq = 1030, c.heads = 1, c.spec.head_dim = c.spec.rotary_dim = 2, c.form = PositionForm::shared;
  });
  add([](Case& c) {
    c.seq = 1, c.batch = 1030, c.heads = 1, c.spec.head_dim = c.spec.rotary_dim = 2;
    c.form = PositionForm::per_batch;
  });
  add([](Case& c) { c.spec.head_dim = c.spec.rotary_dim = 2048; });
  add([](Case& c) { c.spec.head_dim = c.spec.rotary_dim = 264; });
  add([](Case& c) { c.start = (std::int64_t{1} << 33) + 3; });
  add([](Case& c) { c.start = (std::int64_t{1} << 31) + 3; });
  for (const int tokens : {5, 6, 9}) {  // two axes are alike at a token, also at the last one
    add([&](Case& c) {
      c.form = PositionForm::shared;
      c.pattern = PositionPattern::image;
      c.spec.axes.sections = {3, 3, 2};
      c.seq = tokens;
    });
  }
  add([](Case& c) { c.heads = c.key_heads = 24; });
  add([](Case& c) { c.heads = 24, c.key_heads = 8; });
  add([](Case& c) { c.seq = 13; });
  add([](Case& c) { c.spec.scaling = scaling::Constant{}; });
  add([](Case& c) { c.spec.scaling = scaling::Pixel{{}, 12.5}; });
  add([](Case& c) { c.spec.scaling = scaling::Yarn{2.5, 4096}; });
  for (const double original : {3000.0, 5000.0, 100'000.0}) {
    for (const std::int64_t past : {-1, 0, 1, 2, 1000}) {
      add([&](Case& c) {
        c.start = static_cast<std::int64_t>(original) + past - c.seq;
        c.spec.scaling = scaling::Dynamic{{}, 3.5, original};
      });
      add([&](Case& c) {
        c.start = static_cast<std::int64_t>(original) + past - c.seq;
        scaling::LongRope rule;
        rule.factor = 3.5;
        rule.original_max_position_embeddings = original;
        rule.short_factor.assign(8, 1.5);
        rule.long_factor.assign(8, 4);
        c.spec.scaling = rule;
      });
    }
  }
  for (const auto clamp : {scaling::Yarn::Clamp::pairs, scaling::Yarn::Clamp::rotary_dim}) {
    for (const bool truncate : {false, true}) {
      add([&](Case& c) {
        scaling::Yarn rule;
        rule.factor = 3.5;
        rule.original_max_position_embeddings = 100'000;
        rule.beta_fast = 20.5;
        rule.beta_slow = 0.001;  // its pair lies beyond the last one
        rule.truncate = truncate;
        rule.clamp = clamp;
        c.spec.scaling = rule;
      });
    }
  }
  add([](Case& c) {
    c.dtype = DType::f32;
    c.out_dtype = DType::bf16;
    c.spec.scaling = scaling::None{};
    c.spec.rotary_dim = 8;
  });
  return all;
}

// The call after a kernel that computes what the model predicts.
Call answered(const Call& before, const diagnosis::Prediction& said) {
  Call after = before;
  std::size_t at = 0;
  const auto write = [&](Tensor& tensor) {
    for_each_row(tensor, [&](const RowIndex&, std::byte* data) {
      for (std::int64_t f = 0; f < tensor.shape[3]; ++f) {
        store(tensor.dtype, data + f * tensor.strides[3] * static_cast<std::int64_t>(size_of(tensor.dtype)),
              said.value[at++]);
      }
    });
  };
  write(after.in_place ? after.q : *after.q_out);
  if (after.k) write(after.in_place ? *after.k : *after.k_out);
  return after;
}

Finding judged(const Case& c, const diagnosis::Change& change, Oracles& oracles) {
  const Call before = build_call(c, oracles);
  Expectation expectation(before, c.spec, oracles);
  const Call after = answered(before, diagnosis::Model(before, expectation).predict(change));
  Expectation expected(after, c.spec, oracles);
  return judge_call(after, before.q, before.k, expected);
}

}  // namespace

TEST_CASE("The model without a change agrees with the oracle, in every kind of call") {
  rc::Random random(20260102);
  Oracles oracles;
  for (int i = 0; i < 150; ++i) {
    const Case c = drawn(random);
    INFO(to_text(c));
    const Finding finding = judged(c, {}, oracles);
    CHECK(finding.passed());
    CHECK(finding.compared > 0);
  }
}

TEST_CASE("Every hypothesis differs from the right result in some call, in value or in what is touched") {
  rc::Random random(20260103);
  Oracles oracles;
  std::vector<Case> cases = uncommon();
  for (int i = 0; i < 600; ++i) cases.push_back(drawn(random));
  std::vector<std::unique_ptr<ModelledCall>> seen;
  for (const Case& c : cases) seen.push_back(std::make_unique<ModelledCall>(c, oracles));
  std::vector<std::string> never;
  for (const diagnosis::Hypothesis& h : diagnosis::all_hypotheses()) {
    const bool differs = std::any_of(seen.begin(), seen.end(), [&](const auto& s) {
      if (h.applies && !h.applies(s->before)) return false;
      const diagnosis::Prediction said = s->model.predict(h.change);
      return said.outside || said.value != s->right.value || said.written != s->right.written;
    });
    if (!differs) never.push_back(h.sentence);
  }
  // If calls tell the right length, some hypotheses cannot differ.
  std::string names;
  for (const std::string& sentence : never) names += sentence + "\n";
  INFO(names);
  CHECK(50 * never.size() <= diagnosis::all_hypotheses().size());
}

TEST_CASE("Two changes of one stage are applied one after the other") {
  diagnosis::Change one, two;
  one.position = [](const diagnosis::RowContext&, int, long double p) { return p + 1; };
  two.position = [](const diagnosis::RowContext&, int, long double p) { return 2 * p; };
  const Call call;
  const diagnosis::Params params;
  CHECK(both(one, two).position({call, params}, 0, 3) == 8);
  CHECK(both(two, one).position({call, params}, 0, 3) == 7);
}

TEST_CASE("A read beyond a tensor is seen, and may give any value") {
  Oracles oracles;
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 4;
  c.seq = 1;
  c.heads = 1;
  const Call before = build_call(c, oracles);
  const Expectation expectation(before, c.spec, oracles);
  diagnosis::Change change;
  change.index = [](const diagnosis::RowContext&, bool output, int, std::int64_t index) {
    return output ? index : index + 2;
  };
  const diagnosis::Prediction said = diagnosis::Model(before, expectation).predict(change);
  REQUIRE(said.outside);
  CHECK(said.outside->tensor == "q");
  CHECK_FALSE(said.outside->write);
  CHECK(said.outside->element == 4);
  CHECK(std::isinf(said.bound[0]));
}

TEST_CASE("Cutting off goes towards zero") {
  CHECK(diagnosis::cut_off(DType::bf16, 1.999) == 1.9921875);
  CHECK(diagnosis::cut_off(DType::bf16, -1.999) == -1.9921875);
  CHECK(diagnosis::cut_off(DType::bf16, 1.5) == 1.5);
  CHECK(diagnosis::rounded(DType::bf16, 1.999) == 2);
}
