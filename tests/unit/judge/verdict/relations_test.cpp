#include "tools/judge/verdict/relations.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>
#include <tuple>

#include "impls/builtin.hpp"
#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/case/any_case.hpp"
#include "tests/unit/judge/run/replayed.hpp"
#include "tests/unit/places.hpp"
#include "tools/judge/run/suite.hpp"
#include "tools/worker/client/library_subject.hpp"

namespace rope {
namespace {

TEST_CASE("a relation holds up to its bound and not beyond", "[relations]") {
  Finding finding;
  relate(finding, "q", {1, 2, 3}, 4, 5u, 10, 10.5, 1);
  CHECK(finding.passed());
  CHECK(finding.use == Approx(0.5));
  relate(finding, "q", {1, 2, 3}, 4, 5u, 10, 9, 1);
  CHECK(finding.passed());
  CHECK(finding.use == Approx(1));
  relate(finding, "k", {4, 5, 6}, 7, std::nullopt, 10, 9 - 1e-9, 1);
  CHECK(finding.kind == FailureKind::relation);
  CHECK(finding.compared == 3);
  CHECK(finding.wrong == 1);
  CHECK(finding.element->tensor == "k");
  CHECK(finding.element->feature == 7);
  CHECK(finding.element->expected == 10);
}

TEST_CASE("the cost of computing both sides is allowed beside a bound", "[relations]") {
  const double value = 68.6977113;
  for (const auto& [ulps, bound, holds] :
       {std::tuple(2, 1e-30, true), {4, 1e-30, false}, {1, 0.0, false}, {-2, 1e-30, true}, {-4, 1e-30, false}}) {
    Finding finding;
    relate(finding, "q", {}, 0, std::nullopt, value, value + ulps * 0x1p-46, bound);
    CHECK(finding.passed() == holds);
  }
}

// Its scalar products lie on both sides of the middle between two doubles.
TEST_CASE("a right kernel of f64 is its own transpose, as far as doubles can tell", "[relations]") {
  const auto subject = open_library(build_folder() / "legal_o3.so", "full_tables");
  Oracles oracles;
  const Finding finding =
      replayed(case_from_text("BWD-02:head_dim=6,rotary_dim=2,pairing=interleaved,batch=3,seq=48,heads=3,dtype=f64,"
                              "out_dtype=f64,given=f64,full_tables=1,start=1,direction=backward,seed=2281921742"),
               *subject, oracles, nullptr);
  INFO(finding.use);
  CHECK(finding.passed());
}

TEST_CASE("NaN, infinity and a bound of 0", "[relations]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [expected, actual, bound] :
       {std::tuple(1.0, nan, 1.0), {nan, nan, 1.0}, {1.0, infinity, 1.0}, {1.0, 1.5, 0.0}, {infinity, -infinity, 1.0}}) {
    Finding finding;
    relate(finding, "q", {}, 0, std::nullopt, expected, actual, bound);
    CHECK_FALSE(finding.passed());
    CHECK(finding.use == infinity);
  }
  Finding exact;
  relate(exact, "q", {}, 0, std::nullopt, 1, 1, 0);
  relate(exact, "q", {}, 0, std::nullopt, infinity, infinity, 1);
  CHECK(exact.passed());
  // A verdict by such a bound would be a verdict on us.
  CHECK_THROWS_WITH(relate(exact, "q", {}, 0, std::nullopt, 1, 2, nan), Catch::Contains("the bound of a relation is NaN"));
}

TEST_CASE("of an element that may overflow no relation is asked, of others each", "[relations]") {
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 4;
  c.source = AngleSource::computed;
  c.dtype = c.out_dtype = DType::f16;
  for (const double lambda : {1.0, 1e7}) {
    c.spec.attention_factor = lambda;
    KernelSubject subject(half_split_kernel());
    Oracles oracles;
    Trial trial = Examiner(subject, oracles, nullptr).run(c);
    REQUIRE(trial.ok());
    store(DType::f16, row_data(*trial.call.q_out, {0, 0, 0}), std::numeric_limits<double>::infinity());
    Expectation expectation(trial.call, c.spec, oracles);
    const RelatedRow row = related_row(trial, trial.q, *trial.call.q_out, {0, 0, 0}, expectation);
    CHECK(row.lost[0] == (lambda > 1));
    CHECK(row.has_lost == (lambda > 1));
    Finding finding;
    RelatedRow finite = row;
    finite.value.assign(4, 1);
    finite.lost.assign(2, false);
    relate_pairs(finding, "q", {}, expectation, finite, row);
    CHECK(finding.passed() == (lambda > 1));
  }
}

TEST_CASE("a related row has values, norms times lambda, and bounds with the rounding of the tables", "[relations]") {
  Case c;
  c.spec.head_dim = 6;
  c.spec.rotary_dim = 4;
  c.spec.attention_factor = -2;
  c.given = DType::bf16;
  KernelSubject subject(half_split_kernel());
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  const Trial trial = examiner.run(c);
  Expectation expectation = examiner.expectation(c, trial.call);
  const RowIndex row{0, 1, 1};
  const RelatedRow related = related_row(trial, trial.q, trial.call.q_result(), row, expectation);
  CHECK(related.value.size() == 6);
  CHECK(related.value[5] == value_at(trial.q, row, 5));
  const std::vector<PairAngle> angles = expectation.angles(0, 1);
  for (std::size_t p = 0; p < 2; ++p) {
    const double a = value_at(trial.q, row, static_cast<std::int64_t>(p));
    const double b = value_at(trial.q, row, static_cast<std::int64_t>(p) + 2);
    CHECK(related.pair_norm[p] == Approx(2 * std::hypot(a, b)).epsilon(1e-15));
    const double r = expectation.reach(a, b, angles[p]);
    CHECK(related.pair_bound[p] == Approx(expectation.bound(p, 0, r) + 2 * r * 0x1p-8).epsilon(1e-15));
  }
}

}  // namespace
}  // namespace rope
