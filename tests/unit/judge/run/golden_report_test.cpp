#include "tools/judge/run/golden_report.hpp"

#include <catch2/catch.hpp>

#include "impls/builtin.hpp"
#include "tests/conformance/requirements.hpp"
#include "tests/unit/places.hpp"
#include "tools/judge/run/kernel_subject.hpp"

using namespace rope;

namespace {

const Manifest& golden() {
  static const Manifest manifest = read_manifest(source_folder() / "golden");
  return manifest;
}

GoldenReport report_on(const rope_kernel& kernel, const std::string& prefix = "") {
  KernelSubject subject(kernel);
  Oracles oracles;
  return verify_golden(subject, oracles, golden_requirements(), golden(), prefix, {}, nullptr);
}

// The right kernel, one position too far.
std::int32_t late(const rope_call* call) {
  rope_call later = *call;
  ++later.positions.offset;
  return half_split_kernel().apply(&later);
}

}  // namespace

TEST_CASE("from stored tables the fast kernels repeat, bit for bit, every source that rounds as they do") {
  for (const rope_kernel* kernel : {&half_split_kernel(), &interleaved_kernel(), &complex_kernel()}) {
    int compared = 0;
    for (const GoldenOutcome& outcome : report_on(*kernel).outcomes) {
      if (outcome.source != AngleSource::tables || outcome.verdict == GoldenVerdict::not_claimed) continue;
      const GoldenRounding rounding = golden().find(outcome.id)->rounding;
      if (rounding != GoldenRounding::f32 && rounding != GoldenRounding::final_cast) continue;
      INFO(kernel->name << ' ' << outcome.id);
      CHECK(outcome.verdict == GoldenVerdict::identical);
      ++compared;
    }
    CHECK(compared >= 20);
  }
}

TEST_CASE("every built-in passes every golden case that it claims") {
  for (const rope_kernel* kernel : builtin_kernels()) {
    const GoldenReport report = report_on(*kernel);
    INFO(kernel->name);
    CHECK(report.count(GoldenVerdict::fail) == 0);
    CHECK(report.executed() > 70);
    CHECK_FALSE(report.interrupted);
  }
}

TEST_CASE("axes whose frequencies restart are judged from base and scaling, as a rope each") {
  int judged = 0;
  for (const rope_kernel* kernel : {&half_split_kernel(), &interleaved_kernel()}) {
    rope_kernel wrong = *kernel;
    wrong.apply = [](const rope_call* call) {
      rope_call other = *call;
      other.base *= 2;  // positions are below 4, so that less would hide in 16 bits
      const bool split = call->pairing == ROPE_HALF_SPLIT;
      return (split ? half_split_kernel() : interleaved_kernel()).apply(&other);
    };
    const GoldenReport right_report = report_on(*kernel), wrong_report = report_on(wrong);
    for (std::size_t i = 0; i < right_report.outcomes.size(); ++i) {
      const GoldenOutcome& outcome = right_report.outcomes[i];
      if (outcome.source != AngleSource::computed || !golden().find(outcome.id)->spec.axes.restart) continue;
      if (outcome.verdict == GoldenVerdict::not_claimed) continue;
      INFO(kernel->name << ' ' << outcome.id);
      CHECK(outcome.c.batch % 2 == 0);
      CHECK(outcome.verdict != GoldenVerdict::fail);
      CHECK(wrong_report.outcomes[i].verdict == GoldenVerdict::fail);
      ++judged;
    }
  }
  CHECK(judged == 5);  // Qwen2-VL's vision in three types, lucidrains' two grids of whole positions
}

TEST_CASE("only identical results are called identical: the naive matrix sums in another order") {
  CHECK(report_on(naive_matrix_kernel()).count(AngleSource::tables, GoldenVerdict::within_bound) > 20);
}

TEST_CASE("a kernel that is one position late fails wherever it gets an offset") {
  rope_kernel kernel = half_split_kernel();
  kernel.apply = late;
  const GoldenReport report = report_on(kernel, "labml/");
  CHECK(report.count(AngleSource::frequencies, GoldenVerdict::fail) ==
        report.outcomes.size() / 3 - report.count(AngleSource::frequencies, GoldenVerdict::not_claimed));
  CHECK(report.count(GoldenVerdict::fail) > 5);
}

TEST_CASE("an unclaimed case is counted apart, with the reason") {
  const GoldenReport report = report_on(half_split_kernel(), "lucidrains/");
  REQUIRE(report.count(GoldenVerdict::not_claimed) > 10);
  CHECK(report.executed() == 0);
  CHECK(report.outcomes.front().not_claimed.find("interleaved") != std::string::npos);
}

TEST_CASE("an interruption keeps the results until then") {
  KernelSubject subject(half_split_kernel());
  Oracles oracles;
  Stop stop;
  const auto stop_at_third = [&, n = 0](const GoldenOutcome&) mutable {
    if (++n == 3) stop.request();
  };
  const GoldenReport report =
      verify_golden(subject, oracles, golden_requirements(), golden(), "", stop_at_third, &stop);
  CHECK(report.interrupted);
  CHECK(report.outcomes.size() == 3);
}
