#include "tools/judge/run/wrong_position.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/unit/conformance/found_by.hpp"

namespace rope {
namespace {

using Catch::Contains;
using test::found_by;
using test::right;

const std::string beyond = "ERR-03:head_dim=8,seq=3,form=shared,start=9,fault=position_beyond_table";
const std::string negative = "ERR-03:head_dim=8,seq=3,form=shared,start=9,fault=negative_position";
const std::string below_0 = "ERR-06:head_dim=8,seq=3,form=shared,start=9,source=computed,fault=position_below_0";

// Answers as a right kernel that takes the wrong position of token 0 for `position`.
test::Answer as_at(std::int64_t position) {
  return [=](Call& call) {
    Call usual = call;
    std::memcpy(usual.positions->data(), &position, sizeof position);
    const Reply reply = right(usual);
    call.q_out = usual.q_out;
    return reply;
  };
}

// The same, and token 0 holds `value` in all features.
test::Answer with(double value) {
  return [=](Call& call) {
    const Reply reply = as_at(9)(call);
    for (std::int64_t head = 0; head < call.q.shape[2]; ++head) {
      std::byte* row = row_data(*call.q_out, {0, 0, head});
      for (std::int64_t j = 0; j < call.q.shape[3]; ++j) {
        store(call.q_out->dtype, row + j * static_cast<std::int64_t>(size_of(call.q_out->dtype)), value);
      }
    }
    return reply;
  };
}

// Copies token 0.
Reply copied(Call& call) {
  const Reply reply = as_at(9)(call);
  for (std::int64_t head = 0; head < call.q.shape[2]; ++head) copy_row(*call.q_out, {0, 0, head}, call.q, {0, 0, head});
  return reply;
}

std::string message(const std::string& text, const test::Answer& answer) { return found_by(text, answer).message; }

TEST_CASE("wrong position: the message says what was done past the tables", "[wrong_position]") {
  const std::string start =
      "the kernel answered ok to a call that is wrong: a position is one row past the tables; it ";
  CHECK(message(beyond, copied) == start + "left the token as it was");
  CHECK(message(beyond, [](Call&) { return Reply{}; }) == start + "left the token's output unwritten");
  CHECK(message(beyond, with(0)) == start + "wrote zeros");
  CHECK(message(beyond, with(std::numeric_limits<double>::quiet_NaN())) == start + "wrote NaN");
  CHECK(message(beyond, with(3)) ==
        start + "turned the token by numbers that are in no neighbouring row of the tables");
  // Token 0 is at 9, the last one at 11.
  CHECK(message(beyond, as_at(11)) == start + "turned the token by the last row of the tables");
}

TEST_CASE("wrong position: the message says what was done at a negative one", "[wrong_position]") {
  CHECK_THAT(message(negative, as_at(11)), Contains("; it turned the token by the last row of the tables"));
  CHECK_THAT(message(negative, as_at(1)), Contains("; it turned the token as at position 1: it ignores the sign"));
  CHECK_THAT(message(negative, as_at(5)), Contains("; it turned the token by numbers that are in no neighbouring row"));
  CHECK_THAT(message(below_0, as_at(5)), Contains("; it turned the token by another angle"));
  CHECK_THAT(message(below_0, as_at(1)), Contains("; it turned the token as at position 1: it ignores the sign"));
  CHECK_THAT(message(below_0, with(0)), Contains("; it wrote zeros"));
  CHECK_THAT(message(below_0, copied), Contains("; it left the token as it was"));
}

// Answers as a right kernel that takes the wrong position, which is the last axis's in the last batch, for the last
// row.
Reply by_last_row(Call& call) {
  Call usual = call;
  Tensor& p = *usual.positions;
  const std::int64_t at = (p.shape[0] - 1) * p.strides[0] + (p.shape[1] - 1) * p.strides[1];
  store_integer(p, at, call.cos->shape[0] - 1);
  const Reply reply = right(usual);
  call.q_out = usual.q_out;
  return reply;
}

TEST_CASE("wrong position: it is in the last batch and on the last axis", "[wrong_position]") {
  const std::string two_axes = "ERR-03:head_dim=8,axes=3:1,seq=3,form=shared,start=9,fault=position_beyond_table";
  const std::string two_batches = "ERR-03:head_dim=8,batch=2,seq=3,form=per_batch,start=9,fault=position_beyond_table";
  const std::string two_starts = "ERR-03:head_dim=8,batch=2,seq=3,form=seqlen_offsets,start=9,fault=negative_offset";
  CHECK_THAT(message(two_axes, by_last_row), Contains("it turned the token by the last row of the tables"));
  CHECK_THAT(message(two_batches, by_last_row), Contains("it turned the token by the last row of the tables"));
  CHECK_THAT(message(two_starts,
                     [](Call& call) {
                       Call usual = call;
                       store_integer(*usual.seqlen_offsets, 1, 0);
                       const Reply reply = right(usual);
                       call.q_out = usual.q_out;
                       return reply;
                     }),
             Contains("the offset is negative, before the first row of the tables; it left the token as it was"));
}

// A kernel that keeps 32 bits of an offset, or of given positions.
test::Answer narrowing(bool given) {
  return [given](Call& call) {
    Call usual = call;
    if (given && call.positions && call.positions->dtype == DType::i64) {
      for (std::size_t i = 4; i < usual.positions->bytes.size(); i += 8) {
        std::memset(usual.positions->bytes.data() + i, 0, 4);
      }
    }
    if (!given) usual.position_offset &= 0xffffffff;
    const Reply reply = right(usual);
    call.q_out = usual.q_out;
    call.k_out = usual.k_out;
    if (call.in_place) call.q = usual.q;
    if (call.in_place) call.k = usual.k;
    return reply;
  };
}

TEST_CASE("wrong position: a kernel that narrows 64 bits before it looks at them is rejected", "[wrong_position]") {
  for (const bool given : {false, true}) {
    test::Fake subject(test::all_claims(), narrowing(given));
    Oracles oracles;
    SuiteOptions how;
    how.selection.level = Level::quick;
    how.selection.only = {"ERR-03"};
    const RequirementResult result = run_suite(subject, oracles, all_requirements(), how).results.at(0);
    CHECK(result.verdict == Verdict::fail);
    REQUIRE(result.failure);
    CHECK_THAT(to_text(result.failure->minimal), Contains(given ? "fault=wrapping_position" : "fault=wrapping_offset"));
    const std::string fault = given ? "form=shared,fault=wrapping_position" : "fault=wrapping_offset";
    CHECK_THAT(message("ERR-03:head_dim=8,seq=3,start=9," + fault, narrowing(given)),
               Contains("it turned the token by the row of the lower 32 bits"));
  }
}

TEST_CASE("wrong position: a right kernel may turn by the negative angle on several axes", "[wrong_position]") {
  CHECK(found_by("ERR-06:head_dim=8,axes=3:1,seq=3,form=shared,start=9,source=computed,fault=position_below_0", right)
            .passed());
  CHECK(found_by("ERR-06:head_dim=8,batch=2,seq=3,form=seqlen_offsets,source=computed,fault=offset_below_0", right)
            .passed());
}

TEST_CASE("wrong position: without tables a negative angle is right, with tables it is not a row", "[wrong_position]") {
  CHECK(found_by(below_0, right).passed());
  const auto turned_back = [](Call& call) {
    Call usual = call;
    const std::int64_t one = 1;
    std::memcpy(usual.positions->data(), &one, sizeof one);
    usual.direction = Direction::backward;
    const Reply reply = right(usual);
    call.q_out = usual.q_out;
    return reply;
  };
  CHECK(found_by(below_0, turned_back).passed());
  CHECK_THAT(message(negative, turned_back), Contains("; it turned the token by the negative angle"));
}

}  // namespace
}  // namespace rope
