#include "tools/judge/call/floating_point_mode.hpp"

#include <catch2/catch.hpp>
#include <cfenv>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace rope {
namespace {

TEST_CASE("a changed rounding mode is named and restored", "[floating_point_mode]") {
  const FloatingPointMode before = FloatingPointMode::current();
  CHECK(breach_of_mode(before).empty());
  std::fesetround(FE_UPWARD);
  const std::string breach = breach_of_mode(before);
  const int restored = std::fegetround();
  std::fesetround(FE_TONEAREST);
  CHECK_THAT(breach, Catch::StartsWith("left the thread's floating-point mode changed: rounding is up"));
  CHECK(restored == FE_TONEAREST);
}

#ifdef __x86_64__
TEST_CASE("flush to zero and unmasked exceptions are named", "[floating_point_mode]") {
  const unsigned usual = _mm_getcsr() & ~0x3fU;
  const auto words = [&](unsigned changed) {
    const FloatingPointMode before = FloatingPointMode::current();
    _mm_setcsr(changed);
    const std::string breach = breach_of_mode(before);
    CHECK((_mm_getcsr() & ~0x3fU) == usual);
    return breach.substr(breach.find(": ") + 2);
  };
  CHECK(words(usual | 0x8040) == "flush to zero and denormals-are-zero are on");
  CHECK(words(usual | 0x0040) == "denormals-are-zero is on");
  CHECK(words(usual & ~0x0080U) == "exceptions are unmasked");
  const FloatingPointMode before = FloatingPointMode::current();
  _mm_setcsr(usual | 0x3f);  // exceptions that were seen do not count
  CHECK(breach_of_mode(before).empty());
}
#endif

}  // namespace
}  // namespace rope
