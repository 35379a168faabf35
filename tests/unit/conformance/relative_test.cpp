// REL with fewer key heads than heads, as shrinking makes such cases.
#include <catch2/catch.hpp>

#include "tests/unit/conformance/found_by.hpp"

namespace rope {
namespace {

TEST_CASE("REL: each query is scored with the key head that it shares", "[relative]") {
  const char* text = GENERATE("REL-01:heads=6,key_heads=2,seq=4", "REL-02:heads=6,key_heads=2,seq=4,input=constant");
  CHECK(test::found_by(text, test::right).passed());
  const auto one_key_head_left_odd = [](Call& call) {
    const Reply reply = test::right(call);
    if (reply.status == ROPE_OK && call.k_out && call.k_out->shape[2] == 2) {
      for_each_row(*call.k_out, [&](const RowIndex& row, std::byte*) {
        if (row.head == 1 && row.seq % 2 == 1) copy_row(*call.k_out, row, *call.k, row);
      });
    }
    return reply;
  };
  const Finding found = test::found_by(text, one_key_head_left_odd);
  CHECK(found.kind == FailureKind::relation);
  REQUIRE(found.element);
  CHECK(found.element->row.head >= 3);
}

}  // namespace
}  // namespace rope
