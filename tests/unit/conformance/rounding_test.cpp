// ROT-13 on kernels that differ only in how they narrow their results.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/conformance/found_by.hpp"
#include "tests/unit/judge/case/any_case.hpp"

namespace rope {
namespace {

using test::Answer;
using test::found_by;
using test::right;

// Computes in f32 and narrows to the type of q_out by `narrow`. That gets an f32 value and its two 16-bit neighbours,
// the one nearer to zero first.
Answer narrowed_by(double (*narrow)(double value, double toward_zero, double away)) {
  return [=](Call& call) {
    const DType dtype = call.q_out->dtype;
    Call wide = call;
    wide.q_out = Tensor::contiguous(DType::f32, call.q_out->shape);
    const Reply reply = right(wide);
    for_each_row(*call.q_out, [&](const RowIndex& row, std::byte* data) {
      for (std::int64_t j = 0; j < call.q_out->shape[3]; ++j) {
        const double value = value_at(*wide.q_out, row, j);
        std::uint16_t bits = 0;
        store(dtype, &bits, value);
        if (std::fabs(load(dtype, &bits)) > std::fabs(value)) --bits;  // the bits of a magnitude count upwards
        const double toward_zero = load(dtype, &bits);
        ++bits;
        const double away = value == toward_zero ? value : load(dtype, &bits);
        store(dtype, data + 2 * j, narrow(value, toward_zero, away));
      }
    });
    return reply;
  };
}

double nearest(double value, double toward_zero, double away) {
  return std::fabs(value - toward_zero) <= std::fabs(away - value) ? toward_zero : away;
}
double cut_off(double, double toward_zero, double) { return toward_zero; }
double away_from_zero(double, double, double away) { return away; }
double upwards(double, double toward_zero, double away) { return std::max(toward_zero, away); }

std::string many(const char* requirement, const char* dtype) {
  return std::string(requirement) + ":source=computed,head_dim=128,seq=256,start=300,dtype=" + dtype +
         ",out_dtype=" + dtype;
}

TEST_CASE("ROT-13: rounding to nearest holds, however it is written", "[rounding]") {
  for (const char* dtype : {"bf16", "f16"}) {
    INFO(dtype);
    for (const Answer& kernel : {Answer(right), narrowed_by(nearest)}) {
      const Finding finding = found_by(many("ROT-13", dtype), kernel);
      CHECK(finding.passed());
      REQUIRE(finding.element);
      CHECK(std::fabs(finding.element->actual) < 0.02);
    }
  }
}

TEST_CASE("ROT-13: cutting off and rounding away are found, though each result is within its bound", "[rounding]") {
  for (const char* dtype : {"bf16", "f16"}) {
    INFO(dtype);
    const auto mean = [&](double (*narrow)(double, double, double)) {
      CHECK(found_by(many("ROT-01", dtype), narrowed_by(narrow)).passed());
      const Finding finding = found_by(many("ROT-13", dtype), narrowed_by(narrow));
      CHECK(finding.kind == FailureKind::relation);
      REQUIRE(finding.element);
      return finding.element->actual;
    };
    // In units of the spacing: half of one, in the direction of the results.
    CHECK(mean(cut_off) == Approx(-0.5).margin(0.02));
    CHECK(mean(away_from_zero) == Approx(0.5).margin(0.02));
  }
}

TEST_CASE("ROT-13: left-over pairs are tested by themselves wherever positions suffice", "[rounding]") {
  const auto fewest_pairs = [](std::int64_t max_position) {
    Claims claims = test::all_claims();
    claims.capabilities.max_position = max_position;
    CaseList list("ROT-13", claims, {}, nullptr);
    requirement_called("ROT-13").cases(list);
    int fewest = 64;
    for (const Case& c : list.take()) fewest = std::min(fewest, c.spec.rotary_dim / 2);
    return fewest;
  };
  CHECK(fewest_pairs(std::numeric_limits<std::int64_t>::max()) == 3);
  CHECK(fewest_pairs(5461) == 3);
  CHECK(fewest_pairs(4095) == 7);
  CHECK(fewest_pairs(1200) == 15);
  CHECK(fewest_pairs(1000) == 64);
}

TEST_CASE("ROT-13: what it does not test", "[rounding]") {
  // Upwards is away from zero for one half of the results and towards it for the other.
  CHECK(found_by(many("ROT-13", "bf16"), narrowed_by(upwards)).passed());
  // The mean of few results says nothing: shrinking must not take one of them for a failure.
  const Finding few =
      found_by("ROT-13:source=computed,head_dim=128,seq=8,dtype=bf16,out_dtype=bf16", narrowed_by(cut_off));
  CHECK(few.passed());
  CHECK(few.compared == 0);
}

}  // namespace
}  // namespace rope
