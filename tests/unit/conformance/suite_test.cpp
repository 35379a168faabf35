#include "tests/conformance/suite.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "impls/builtin.hpp"
#include "reference/input_error.hpp"
#include "tests/conformance/coverage.hpp"
#include "tests/unit/conformance/any_case.hpp"

namespace rope {
namespace {

using Catch::Contains;

// A subject in this process that does what a test says.
class Fake : public Subject {
 public:
  Fake(Claims claims, std::function<Reply(Call&)> answer) : claims_(std::move(claims)), answer_(std::move(answer)) {}

  const std::string& name() const override { return name_; }
  const Claims& claims() const override { return claims_; }
  Reply apply(Call& call) override {
    ++calls;
    return answer_(call);
  }

  std::int64_t calls = 0;

 private:
  std::string name_ = "fake";
  Claims claims_;
  std::function<Reply(Call&)> answer_;
};

// f32, half-split, contiguous, angles computed without scaling, positions from an offset, any batch.
Claims narrow_claims() {
  Claims claims;
  rope_capabilities& k = claims.capabilities;
  k.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  k.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  k.angle_sources = ROPE_BIT(ROPE_COMPUTED);
  k.scalings = ROPE_BIT(ROPE_SCALING_NONE);
  k.features = ROPE_BIT(ROPE_FEATURE_OFFSET);
  k.max_position = 1 << 20;
  return claims;
}

Reply right(Call& call) {
  KernelSubject kernel(half_split_kernel());
  return kernel.apply(call);
}

SuiteOptions options(Level level = Level::quick) {
  SuiteOptions result;
  result.selection.level = level;
  return result;
}

SubjectReport run(Subject& subject, const SuiteOptions& how = options()) {
  Oracles oracles;
  return run_suite(subject, oracles, how);
}

std::string grade_of(const SubjectReport& report, DType dtype) {
  for (const MeasuredGrade& measured : report.grades) {
    if (measured.dtype == dtype) return measured.grade;
  }
  return "(not measured)";
}

TEST_CASE("a right kernel conforms, requirement by requirement", "[suite]") {
  Fake subject(narrow_claims(), right);
  const SubjectReport report = run(subject);
  CHECK(report.conforms());
  CHECK(report.results.size() == all_requirements().size());
  CHECK(report.executed() > 50);
  CHECK(report.calls == subject.calls);
  CHECK(grade_of(report, DType::f32) == "A1");
  CHECK(report.grades.size() == 1);
  for (const RequirementResult& result : report.results) {
    INFO(result.id);
    CHECK(result.verdict == (result.cases > 0 ? Verdict::pass : Verdict::not_claimed));
    CHECK(result.failed == 0);
    CHECK_FALSE(result.failure.has_value());
    if (result.id == "GLD-01") CHECK(result.verdict == Verdict::not_claimed);  // no golden files were given
    if (result.id == "ROT-01") CHECK(result.verdict == Verdict::pass);
    if (result.id.starts_with("BWD")) CHECK(result.verdict == Verdict::not_claimed);
  }
}

TEST_CASE("nothing is asked of a kernel that it does not claim", "[suite]") {
  std::int64_t unclaimed = 0;
  Fake subject(narrow_claims(), [&](Call& call) {
    const bool claimed = call.q.dtype == DType::f32 && call.q_out && call.q_out->dtype == DType::f32 && !call.k &&
                         call.pairing == Pairing::half_split && call.source == AngleSource::computed &&
                         call.scaling.index() == 0 && !call.positions && call.axes == 1 &&
                         call.direction == Direction::forward && call.attention_factor == 1 &&
                         call.rotary_dim == call.q.shape[3] && call.q.strides[3] == 1 &&
                         call.q.strides[2] == call.q.shape[3] && call.position_offset + call.q.shape[1] <= 1 << 20;
    unclaimed += claimed ? 0 : 1;
    return right(call);
  });
  run(subject, options(Level::full));
  CHECK(subject.calls > 500);
  CHECK(unclaimed == 0);
}

TEST_CASE("a kernel that is wrong in one way fails with a minimal case that still fails", "[suite]") {
  // With two batches or more, everything is turned one position too far.
  const auto wrong = [](Call& call) {
    Call shifted = call;
    shifted.position_offset += call.q.shape[0] > 1 ? 1 : 0;
    const Reply reply = right(shifted);
    call.q_out = shifted.q_out;
    return reply;
  };
  Fake subject(narrow_claims(), wrong);
  const SubjectReport report = run(subject);
  CHECK_FALSE(report.conforms());
  const auto rotation = std::find_if(report.results.begin(), report.results.end(),
                                     [](const RequirementResult& r) { return r.id == "ROT-01"; });
  REQUIRE(rotation != report.results.end());
  CHECK(rotation->verdict == Verdict::fail);
  CHECK(rotation->failed > 0);
  CHECK(rotation->failed < rotation->cases);  // cases with one batch pass
  REQUIRE(rotation->failure.has_value());
  const Case& minimal = rotation->failure->minimal;
  CHECK(minimal.batch == 2);
  CHECK(minimal.seq == 1);
  CHECK(minimal.heads == 1);
  CHECK(minimal.spec.head_dim == 2);
  CHECK(minimal.start == 0);
  CHECK(rotation->failure->finding.kind == FailureKind::value);

  Oracles oracles;
  CHECK_FALSE(replay(minimal, subject, oracles, nullptr).passed());
  CHECK_FALSE(replay(case_from_text(to_text(minimal)), subject, oracles, nullptr).passed());
  CHECK_FALSE(replay(case_from_text(rotation->failure->first_seen), subject, oracles, nullptr).passed());
  int simpler_ones = 0;
  for (const Case& c : simpler(minimal)) {
    if (!uncovered(c, subject.claims()).empty()) continue;
    ++simpler_ones;
    INFO(to_text(c));
    CHECK(replay(c, subject, oracles, nullptr).passed());  // else it would not be minimal
  }
  CHECK(simpler_ones > 0);
}

TEST_CASE("every requirement that fails has a case that fails alone", "[suite]") {
  Fake subject(narrow_claims(), [](Call& call) {
    const Reply reply = right(call);
    for (std::int64_t i = 0; i < call.q_out->count(); i += 5) {
      std::byte* element = call.q_out->data() + i * 4;
      store(DType::f32, element, load(DType::f32, element) + 0.5);
    }
    return reply;
  });
  const SubjectReport report = run(subject);
  Oracles oracles;
  int failed = 0;
  for (const RequirementResult& result : report.results) {
    CHECK((result.verdict == Verdict::fail) == result.failure.has_value());
    if (!result.failure) continue;
    INFO(result.id << ' ' << to_text(result.failure->minimal));
    ++failed;
    CHECK_FALSE(replay(result.failure->minimal, subject, oracles, nullptr).passed());
  }
  CHECK(failed >= 5);
  CHECK(grade_of(report, DType::f32).empty());
}

TEST_CASE("a subject that claims nothing is not claimed everywhere, and does not conform", "[suite]") {
  Fake subject(test::no_claims(), right);
  const SubjectReport report = run(subject);
  CHECK(report.executed() == 0);
  CHECK(subject.calls == 0);
  CHECK_FALSE(report.conforms());
  CHECK(report.results.size() == all_requirements().size());
  for (const RequirementResult& result : report.results) CHECK(result.verdict == Verdict::not_claimed);
}

TEST_CASE("a selection that leaves no case is no pass", "[suite]") {
  Fake subject(narrow_claims(), right);
  SuiteOptions how = options();
  how.selection.dtypes = {DType::bf16};
  const SubjectReport report = run(subject, how);
  CHECK(report.executed() == 0);
  CHECK_FALSE(report.conforms());
}

TEST_CASE("claimed and unsupported is a failure", "[suite]") {
  Fake subject(narrow_claims(), [](Call&) { return Reply{ReplyKind::done, ROPE_UNSUPPORTED, "not today", 0}; });
  const SubjectReport report = run(subject);
  CHECK_FALSE(report.conforms());
  for (const RequirementResult& result : report.results) {
    if (result.cases == 0) continue;
    INFO(result.id);
    CHECK(result.verdict == Verdict::fail);
    CHECK(result.failed == result.cases);
    REQUIRE(result.failure.has_value());
    CHECK(result.failure->finding.kind == FailureKind::status);
    CHECK_THAT(result.failure->finding.message, Contains("claims this case and answered unsupported: not today"));
  }
}

TEST_CASE("a kernel that dies is given up after three deaths a requirement", "[suite]") {
  Fake subject(narrow_claims(), [](Call&) { return Reply{ReplyKind::crashed, 0, "it is gone", 0}; });
  const SubjectReport report = run(subject);
  for (const RequirementResult& result : report.results) {
    CHECK(result.cases <= 3);
    if (result.cases == 0) continue;
    CHECK(result.verdict == Verdict::fail);
    CHECK(result.failure->finding.kind == FailureKind::crash);
  }
  CHECK(subject.calls < 30 * static_cast<std::int64_t>(report.results.size()));
}

TEST_CASE("a run that is stopped does not conform", "[suite]") {
  std::atomic<bool> stop = false;
  std::int64_t calls = 0;
  Fake subject(narrow_claims(), [&](Call& call) {
    if (++calls == 10) stop = true;
    return right(call);
  });
  SuiteOptions how = options();
  how.stop = &stop;
  const SubjectReport report = run(subject, how);
  CHECK(report.interrupted);
  CHECK(report.executed() > 0);
  CHECK(report.results.size() < all_requirements().size());
  CHECK_FALSE(report.conforms());
}

TEST_CASE("the same seed runs the same cases", "[suite]") {
  const auto transcript = [](std::uint64_t seed) {
    Fake subject(narrow_claims(), right);
    SuiteOptions how = options();
    how.selection.seed = seed;
    std::string text;
    for (const RequirementResult& result : run(subject, how).results) {
      text += result.id + std::to_string(result.cases) + result.worst_case;
    }
    return text;
  };
  CHECK(transcript(1) == transcript(1));
  CHECK(transcript(1) != transcript(2));
}

// f32 kernels whose angles are those of grade B, of grade C, and worse.
template <class Theta>
Reply in_float(Call& call, Theta theta_of) {
  const std::int64_t dim = call.q.shape[3], heads = call.q.shape[2], seq = call.q.shape[1];
  const std::vector<float> theta = theta_of(static_cast<float>(call.base), static_cast<int>(dim));
  const auto* x = reinterpret_cast<const float*>(call.q.data());
  auto* y = reinterpret_cast<float*>(call.q_out->data());
  for (std::int64_t row = 0; row < call.q.count() / dim; ++row, x += dim, y += dim) {
    const auto m = static_cast<float>(call.position_offset + row / heads % seq);
    for (std::int64_t p = 0; p < dim / 2; ++p) {
      const float phi = m * theta[static_cast<std::size_t>(p)];
      const float c = std::cos(phi), s = std::sin(phi);
      y[p] = x[p] * c - x[p + dim / 2] * s;
      y[p + dim / 2] = x[p + dim / 2] * c + x[p] * s;
    }
  }
  return {};
}

std::vector<float> direct(float base, int dim) {
  std::vector<float> theta;
  for (int p = 0; p < dim / 2; ++p) {
    theta.push_back(1.0F / std::pow(base, static_cast<float>(2 * p) / static_cast<float>(dim)));
  }
  return theta;
}

std::vector<float> by_multiplication(float base, int dim) {
  std::vector<float> theta(static_cast<std::size_t>(dim / 2), 1.0F);
  const float step = std::pow(base, -2.0F / static_cast<float>(dim));
  for (std::size_t p = 1; p < theta.size(); ++p) theta[p] = theta[p - 1] * step;
  return theta;
}

std::vector<float> in_bfloat16(float base, int dim) {
  std::vector<float> theta = direct(base, dim);
  for (float& value : theta) value = static_cast<float>(bfloat16_to_double(double_to_bfloat16(value)));
  return theta;
}

TEST_CASE("the grade is the tightest that held in every case", "[suite]") {
  Fake grade_b(narrow_claims(), [](Call& call) { return in_float(call, direct); });
  const SubjectReport b = run(grade_b, options(Level::full));
  CHECK(grade_of(b, DType::f32) == "B1");
  CHECK(b.conforms());

  Fake grade_c(narrow_claims(), [](Call& call) { return in_float(call, by_multiplication); });
  const SubjectReport c = run(grade_c, options(Level::full));
  CHECK(grade_of(c, DType::f32) == "C1");
  CHECK(c.conforms());

  Fake none(narrow_claims(), [](Call& call) { return in_float(call, in_bfloat16); });
  const SubjectReport worse = run(none);
  CHECK(grade_of(worse, DType::f32).empty());
  CHECK_FALSE(worse.conforms());
}

TEST_CASE("a case that the claims do not cover cannot be replayed", "[suite]") {
  Fake subject(narrow_claims(), right);
  Oracles oracles;
  const Case c = case_from_text("ROT-01:dtype=bf16,out_dtype=bf16,source=computed");
  CHECK_THROWS_WITH(replay(c, subject, oracles, nullptr), Contains("bf16 input is not claimed"));
  const Case unknown = case_from_text("XYZ-01:source=computed");
  CHECK_THROWS_WITH(replay(unknown, subject, oracles, nullptr), Contains("requirement \"XYZ-01\" is not known"));
}

}  // namespace
}  // namespace rope
