// ROT-05 to ROT-07, ROT-11 and ROT-12 on kernels that break one property of a linear map and keep the others.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tests/unit/conformance/found_by.hpp"

namespace rope {
namespace {

using test::edited;
using test::found_by;
using test::right;
using test::Rotated;
using Ids = std::set<std::string>;

const char* const all_ids[] = {"ROT-05", "ROT-06", "ROT-07", "ROT-11", "ROT-12"};

// The requirements that the kernel breaks. An even seed scales by 8, an odd one by 1/4.
Ids broken(const test::Answer& kernel, const std::string& more = "") {
  Ids ids;
  for (const std::string id : all_ids) {
    for (const char* seed : {"2", "3"}) {
      const Finding finding =
          found_by(id + ":source=computed,head_dim=32,seq=5,heads=3,start=300,seed=" + seed + more, kernel);
      CHECK((finding.passed() || finding.kind == FailureKind::relation));
      CHECK(finding.compared > 0);
      if (!finding.passed()) ids.insert(id);
    }
  }
  return ids;
}

double next_to(double value, double where) {
  return std::nextafter(static_cast<float>(value), static_cast<float>(where));
}

TEST_CASE("a rotation is linear, bit for bit where bits are required", "[linearity]") {
  for (const char* more : {"", ",rotary_dim=16", ",dtype=bf16,out_dtype=bf16", ",dtype=f64,out_dtype=f64"}) {
    INFO(more);
    CHECK(broken(right, more).empty());
  }
}

TEST_CASE("each broken property of a linear map fails its requirement", "[linearity]") {
  // Large results saturate: odd, but not homogeneous.
  CHECK(broken(edited([](const Rotated& x) {
          return std::fabs(x.result) > 6 ? std::copysign(6, x.result) : x.result;
        })).contains("ROT-05"));
  CHECK_FALSE(broken(edited([](const Rotated& x) {
                return std::fabs(x.result) > 6 ? std::copysign(6, x.result) : x.result;
              })).contains("ROT-06"));
  // A part that has no sign: homogeneous for positive factors, not odd.
  const Ids even = broken(edited([](const Rotated& x) { return x.result + 0.01 * std::fabs(x.first); }));
  CHECK(even.contains("ROT-06"));
  CHECK_FALSE(even.contains("ROT-05"));
  // A gain where both features take part: homogeneous and odd, not additive.
  CHECK(broken(edited([](const Rotated& x) {
          return x.first != 0 && x.second != 0 ? 1.03125 * x.result : x.result;
        })) == Ids{"ROT-07"});
}

TEST_CASE("a last bit that depends on size or sign is within every bound, and seen where bits are required",
          "[linearity]") {
  CHECK(broken(edited([](const Rotated& x) { return std::fabs(x.first) > 4 ? next_to(x.result, 0) : x.result; })) ==
        Ids{"ROT-11"});
  CHECK(broken(edited([](const Rotated& x) { return x.result < 0 ? next_to(x.result, 0) : x.result; })) ==
        Ids{"ROT-12"});
}

TEST_CASE("close to underflow no bits are required", "[linearity]") {
  // Scaled by a quarter, these results are rounded to subnormals, each differently.
  for (const std::string id : {"ROT-11", "ROT-12"}) {
    const Finding finding = found_by(id + ":source=computed,head_dim=32,start=300,seed=3,input=subnormal", right);
    CHECK(finding.passed());
    CHECK(finding.compared == 0);
  }
}

TEST_CASE("a property needs all its calls answered", "[linearity]") {
  for (const std::string id : all_ids) {
    int calls = 0;
    const auto second_fails = [&](Call& call) {
      return ++calls == 2 ? Reply{ReplyKind::done, ROPE_FAILED, "once is enough", 0} : right(call);
    };
    const Finding finding = found_by(id + ":source=computed,head_dim=32", second_fails);
    CHECK(finding.kind == FailureKind::status);
    CHECK_THAT(finding.message, Catch::Contains("once is enough"));
  }
}

}  // namespace
}  // namespace rope
