#include "tools/judge/case/crossed.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "tests/unit/judge/case/any_case.hpp"

namespace rope {
namespace {

// How many fields have the value of `from`, where the two cases differ.
int taken(const Case& c, const Case& one, const Case& other, const Case& from) {
  int count = 0;
  for (const Field& field : fields()) {
    const std::string text = field.text.print(c);
    if (field.text.print(one) != field.text.print(other) && text == field.text.print(from)) ++count;
  }
  return count;
}

TEST_CASE("A crossed case has each field of one of two cases, in the share that was asked for", "[crossed]") {
  rc::prop("of any two cases", [] {
    const Case one = test::any_case(), other = test::any_case();
    rc::Random random(*rc::gen::inRange<std::uint64_t>(0, 1'000'000));
    const int differ = taken(one, one, other, one);
    const auto share = [&](int eighths) {
      int of_other = 0;
      for (int i = 0; i < 64; ++i) {
        const Case c = crossed(random, one, other, eighths);
        const int from_other = taken(c, one, other, other);
        RC_ASSERT(taken(c, one, other, one) + from_other == differ);
        RC_ASSERT(c.requirement == one.requirement);
        of_other += from_other;
      }
      return of_other / 64.0 / differ;
    };
    RC_PRE(differ >= 8);
    RC_ASSERT(share(0) == 0);
    RC_ASSERT(share(8) == 1);
    // At least 512 draws. 0.1 is five times their standard deviation, sqrt(1/4 * 3/4 / 512) = 0.019.
    RC_ASSERT(std::abs(share(2) - 0.25) < 0.1);
  });
}

}  // namespace
}  // namespace rope
