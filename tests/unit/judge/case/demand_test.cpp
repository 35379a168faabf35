#include "tools/judge/case/demand.hpp"

#include <catch2/catch.hpp>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/case/any_case.hpp"

namespace rope {
namespace {

Requirement demanded_by(Demands demands) {
  return {"ABC-01", "It SHOULD hold.", "nothing", "everything", nullptr, nullptr, demands};
}

TEST_CASE("demands: every word is known by itself, and no other word is", "[demand]") {
  Demands all = 0;
  for (const DemandWord& known : demand_words()) {
    CHECK(demand_from_word(known.word) == known.demand);
    CHECK_FALSE(known.meaning.empty());
    CHECK((all & mask(known.demand)) == 0);  // its own bit
    all |= mask(known.demand);
  }
  CHECK(demand_words().size() == 3);
  for (const char* word : {"", "Bitwise", "bitwise ", "batch_invariant", "A1"}) CHECK_FALSE(demand_from_word(word));
}

TEST_CASE("demands: a MUST always decides, a SHOULD only if one of its demands is made", "[demand]") {
  const Claims claims = test::no_claims();
  CHECK(demanded_by(0).is_must());
  CHECK(decides(demanded_by(0), 0, claims));
  const Requirement should = demanded_by(Demand::bitwise | Demand::batch_invariant);
  CHECK_FALSE(should.is_must());
  CHECK_FALSE(decides(should, 0, claims));
  CHECK_FALSE(decides(should, mask(Demand::robust), claims));
  CHECK(decides(should, mask(Demand::bitwise), claims));
  CHECK(decides(should, Demand::batch_invariant | Demand::robust, claims));
}

TEST_CASE("demands: a claim of ROPE_FEATURE_ROBUST counts as the demand robust", "[demand]") {
  Claims claims = test::no_claims();
  const Requirement robust = demanded_by(mask(Demand::robust));
  const Requirement bitwise = demanded_by(mask(Demand::bitwise));
  CHECK_FALSE(decides(robust, 0, claims));
  claims.capabilities.features = ROPE_BIT(ROPE_FEATURE_ROBUST);
  CHECK(decides(robust, 0, claims));
  CHECK_FALSE(decides(bitwise, 0, claims));
}

}  // namespace
}  // namespace rope
