// Grades: measured, and demanded.
#include <catch2/catch.hpp>

#include "tests/unit/judge/run/fake_subject.hpp"
#include "tests/unit/judge/run/replayed.hpp"
#include "tests/unit/judge/run/suite_run.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope {
namespace {

using test::Fake;
using test::grade_of;
using test::narrow_claims;
using test::options;
using test::right;
using test::run;

TEST_CASE("a dtype in which a requirement fails has no grade, the others have theirs", "[suite]") {
  Claims claims = narrow_claims();
  claims.capabilities.out_dtypes[ROPE_F16] = ROPE_BIT(ROPE_F16);
  // In f32 the same call gives another last bit every time: each is within every bound.
  int calls = 0;
  Fake subject(claims, [&](Call& call) {
    const Reply reply = right(call);
    if (call.q.dtype == DType::f32 && ++calls % 2 == 0 && call.q_out->count() > 0) {
      call.q_out->bytes[0] = static_cast<std::byte>(static_cast<int>(call.q_out->bytes[0]) ^ 1);
    }
    return reply;
  });
  SuiteOptions how = options();
  how.selection.only = {"ROT-01", "DET-01"};
  const SubjectReport report = run(subject, how);
  CHECK(report.count(Verdict::fail) == 1);
  CHECK(grade_of(report, DType::f32).empty());
  CHECK(grade_of(report, DType::f16) == "A1");
  for (const MeasuredGrade& measured : report.grades) CHECK(measured.use <= 1);
}

TEST_CASE("the grade is the tightest that held in every case", "[suite]") {
  Fake grade_b(narrow_claims(), [](Call& call) { return test::in_float(call, test::direct); });
  const SubjectReport b = run(grade_b, options());
  CHECK(grade_of(b, DType::f32) == "B1");
  CHECK(b.conforms());

  Fake grade_c(narrow_claims(), [](Call& call) { return test::in_float(call, test::by_multiplication); });
  const SubjectReport c = run(grade_c, options());
  CHECK(grade_of(c, DType::f32) == "C1");
  CHECK(c.conforms());

  Fake none(narrow_claims(), [](Call& call) { return test::in_float(call, test::in_bfloat16); });
  const SubjectReport worse = run(none);
  CHECK(grade_of(worse, DType::f32).empty());
  CHECK_FALSE(worse.conforms());
}

TEST_CASE("a demanded grade decides, in the suite and in the replay", "[suite]") {
  const auto grade_b = [](Call& call) { return test::in_float(call, test::direct); };
  Fake subject(narrow_claims(), grade_b);
  SuiteOptions how = options();
  how.selection.grade = {AngleGrade::B, ArithmeticGrade::one};
  CHECK(run(subject, how).conforms());
  how.selection.grade = {AngleGrade::A, ArithmeticGrade::one};
  const SubjectReport report = run(subject, how);
  CHECK_FALSE(report.conforms());
  CHECK(grade_of(report, DType::f32) == "B1");  // the measured grade does not depend on the demanded one
  Oracles oracles;
  int failed = 0;
  for (const RequirementResult& result : report.results) {
    if (!result.failure) continue;
    ++failed;
    CHECK(result.worst->use > 1);
    CHECK_FALSE(replayed(result.failure->minimal, subject, oracles, nullptr, how.selection.grade).passed());
    CHECK(replayed(result.failure->minimal, subject, oracles, nullptr).passed());
  }
  CHECK(failed > 0);
}

}  // namespace
}  // namespace rope
