#include "tools/judge/case/fault.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "impls/builtin.hpp"
#include "reference/input_error.hpp"
#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

// A case with room for every fault.
Case roomy(Fault fault) {
  Case c;
  c.fault = fault;
  c.key_heads = 2;
  c.start = 9;
  if (has_need(fault, FaultNeed::frequencies) || has_need(fault, FaultNeed::no_tables))
    c.source = AngleSource::frequencies;
  if (has_need(fault, FaultNeed::positions)) c.form = PositionForm::shared;
  if (has_need(fault, FaultNeed::rotary_offset)) c.spec.rotary_dim = 60, c.spec.rotary_offset = 2;
  if (has_need(fault, FaultNeed::i64)) c.position_dtype = DType::i64;
  return c;
}

TEST_CASE("every fault has its own word, by which a case keeps it", "[fault]") {
  std::set<std::string_view> seen;
  for (const FaultRow& known : fault_rows()) {
    INFO(known.word);
    CHECK(seen.insert(known.word).second);
    CHECK(row_of(known.fault).word == known.word);
    Case c = roomy(known.fault);
    c.requirement = "ERR-01";
    CHECK(case_from_text(to_text(c)).fault == known.fault);
  }
}

TEST_CASE("each single fault turns a right call into one that our kernels refuse", "[fault]") {
  const Claims claims = test::all_claims();
  for (const FaultRow& known : fault_rows()) {
    INFO(known.word << ": " << known.meaning);
    const Case c = roomy(known.fault);
    CHECK(uncovered(c, claims).empty());
    Oracles oracles;
    Call call = build_call(c, oracles);
    rope_call bound = bind(call);
    CHECK(half_split_kernel().apply(&bound) == ROPE_OK);
    put_fault(c, call);
    bound = bind(call);
    // Our kernels turn by the negative angle, which is allowed.
    const bool served = known.kind == FaultKind::none || known.kind == FaultKind::negative_angle;
    CHECK((half_split_kernel().apply(&bound) == ROPE_OK) == served);
  }
}

TEST_CASE("a fault is not covered if the call has no room for it", "[fault]") {
  const Claims claims = test::all_claims();
  Case c;
  c.source = AngleSource::computed;
  c.fault = Fault::no_cos;
  CHECK(uncovered(c, claims) == "the fault no_cos does not fit this case: it has no tables");
  c.fault = Fault::no_output;
  c.in_place = true;
  CHECK(uncovered(c, claims) == "the fault no_output does not fit this case: it is in place");
  Oracles oracles;
  Call call = build_call(c, oracles);
  CHECK_THROWS_AS(put_fault(c, call), InputError);
}

}  // namespace
}  // namespace rope
