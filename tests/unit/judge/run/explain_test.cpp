#include "tools/judge/run/explain.hpp"

#include <catch2/catch.hpp>
#include <limits>

namespace rope {
namespace {

Element element() {
  Element e;
  e.tensor = "k";
  e.row = {1, 2, 3};
  e.feature = 37;
  e.pair = 5;
  e.position = 1026;
  e.phi = 320.5;
  e.expected = 1.25;
  e.actual = 1.5;
  e.actual_bits = 0x3fc00000;
  e.error = 0.25;
  e.bound = 0.125;
  return e;
}

TEST_CASE("a value is printed with its bits", "[explain]") {
  CHECK(value_with_bits(DType::f32, 1.25) == "1.25 (0x3fa00000)");
  CHECK(value_with_bits(DType::f64, 1.25) == "1.25 (0x3ff4000000000000)");
  CHECK(value_with_bits(DType::bf16, -2) == "-2 (0xc000)");
  CHECK(value_with_bits(DType::f16, 0.1) == "0.1 (0x2e66)");  // the bits of f16
}

TEST_CASE("an element's place names tensor, row, pair and position", "[explain]") {
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 64;
  CHECK(place(element(), c) == "k[batch 1, token 2, head 3], pair 5 (features 5 and 37), position 1026, phi 320.5");
  c.spec.pairing = Pairing::interleaved;
  CHECK(place(element(), c) == "k[batch 1, token 2, head 3], pair 5 (features 10 and 11), position 1026, phi 320.5");
  Element outside = element();
  outside.pair.reset();
  outside.phi = 0;
  CHECK(place(outside, c) == "k[batch 1, token 2, head 3], feature 37");
}

TEST_CASE("the replay line names the grade unless it is the loosest", "[explain]") {
  const Case c = case_from_text("ROT-01:head_dim=2");
  CHECK(replay_command(c, "half_split") == "ropecheck replay 'ROT-01:head_dim=2' --subject half_split");
  CHECK(replay_command(c, "half_split", {AngleGrade::A, ArithmeticGrade::one}) ==
        "ropecheck replay 'ROT-01:head_dim=2' --subject half_split --require A1");
}

TEST_CASE("every kind of failure has its own sentence", "[explain]") {
  Finding finding;
  CHECK(explain(finding) == "holds");
  finding.kind = FailureKind::value;
  finding.compared = 10;
  finding.wrong = 3;
  finding.element = element();
  CHECK(explain(finding) ==
        "3 of 10 elements are wrong; the worst is feature 37: 1.5 (0x3fc00000) where 1.25 (0x3fa00000) is exact; the "
        "error 0.25 is 2 times the bound 0.125");
  finding.element->bound = 0;
  CHECK_THAT(explain(finding), Catch::Contains("the error 0.25 is beyond the bound 0"));
  finding.element->error = std::numeric_limits<double>::quiet_NaN();
  finding.element->bound = 0.125;
  CHECK_THAT(explain(finding), Catch::Contains("is beyond the bound 0.125"));
  finding.kind = FailureKind::unwritten;
  CHECK(explain(finding) ==
        "3 elements were never written: feature 37 still holds what it held before, 0x3fc00000");
  for (const auto kind : {FailureKind::status, FailureKind::crash, FailureKind::timeout, FailureKind::misbehaviour}) {
    finding.kind = kind;
    finding.message = "what happened";
    CHECK(explain(finding) == "what happened");
  }
}

std::string told_words(const Finding& finding) { return explain(told(finding, "norms", "the new one", "the old one")); }

TEST_CASE("a relation is told in the words of its check", "[explain]") {
  Finding finding;
  finding.kind = FailureKind::relation;
  finding.compared = 10;
  finding.wrong = 3;
  finding.element = element();
  CHECK(told_words(finding) ==
        "3 of 10 norms are beyond the bound; the worst: the new one is 1.5, the old one is 1.25; the difference 0.25 is 2 "
        "times the bound 0.125");
  finding.element->error = std::numeric_limits<double>::quiet_NaN();
  CHECK_THAT(told_words(finding), Catch::EndsWith("; the difference nan is beyond the bound 0.125"));
  finding.element->expected = std::numeric_limits<double>::infinity();
  CHECK_THAT(told_words(finding), Catch::EndsWith("the new one is 1.5, the old one is inf"));
  finding.element->actual = 1;
  finding.element->expected = 1 + 0x1p-52;
  finding.element->bound = 0;
  finding.element->error = 0x1p-52;
  CHECK(told_words(finding) ==
        "3 of 10 norms are not equal; the worst: the new one is 1, the old one is 1.0000000000000002; the difference "
        "2.22e-16");
  finding.kind = FailureKind::none;
  CHECK(told_words(finding) == "holds");
}

TEST_CASE("results that differ are told with the calls that gave them", "[explain]") {
  Finding finding;
  finding.kind = FailureKind::repetition;
  finding.compared = 10;
  finding.wrong = 3;
  finding.element = element();
  CHECK(explain(told(finding, "two calls whose heads are in another order")) ==
        "3 of 10 elements differ between two calls whose heads are in another order; the first is feature 37: 1.25 "
        "(0x3fa00000), then 1.5 (0x3fc00000)");
}

TEST_CASE("scores, rows and means have places of their own", "[explain]") {
  const Case c;
  Element e = element();
  e.pair.reset();
  e.what = Compared::score;
  CHECK(place(e, c) == "the query at token 2 and the key at token 37, batch 1, head 3");
  e.what = Compared::row;
  CHECK(place(e, c) == "k[batch 1, token 2, head 3]");
  e.what = Compared::mean;
  CHECK(place(e, c) == "the mean of k");
  Finding finding;
  finding.message = "the mean is small";
  finding.element = e;
  CHECK(explain(finding) == "holds: the mean is small");
  CHECK(details(finding).empty());
}

std::string lines_of(FailureKind kind, const Element& e) {
  Finding finding;
  finding.kind = kind;
  finding.element = e;
  std::string text;
  for (const auto& [label, value] : details(finding)) text += label + ' ' + value + '\n';
  return text;
}

TEST_CASE("the reference of an element decides the words for the two values", "[explain]") {
  const std::string against_oracle = "expected 1.25 (0x3fa00000)\nactual 1.5 (0x3fc00000)\nerror 0.25, bound 0.125\n";
  const std::string related = "asked for 1.25 (0x3fa00000)\nactual 1.5 (0x3fc00000)\napart 0.25, bound 0.125\n";
  CHECK(lines_of(FailureKind::value, element()) == against_oracle);
  CHECK(lines_of(FailureKind::relation, element()) == related);
  CHECK(lines_of(FailureKind::repetition, element()) == "at first 1.25 (0x3fa00000)\nthen 1.5 (0x3fc00000)\n");
  CHECK(lines_of(FailureKind::unwritten, element()) == "expected 1.25 (0x3fa00000)\nactual 1.5 (0x3fc00000)\n");

  // The worst of the elements that hold: only the element shows the kind of check.
  Element rotated = element();
  rotated.rotation.emplace();
  Element mean = element();
  mean.pair.reset();
  Element copied = mean;
  copied.bound = 0;
  CHECK(lines_of(FailureKind::none, rotated) == against_oracle);
  CHECK(lines_of(FailureKind::none, element()) == related);
  CHECK(lines_of(FailureKind::none, mean) == related);
  CHECK_THAT(lines_of(FailureKind::none, copied), Catch::StartsWith("expected "));

  Element infinite = element();
  infinite.expected = std::numeric_limits<double>::infinity();
  CHECK(lines_of(FailureKind::relation, infinite) == "asked for inf (0x7f800000)\nactual 1.5 (0x3fc00000)\n");
  CHECK(details(Finding{}).empty());
}

}  // namespace
}  // namespace rope
