// MEM on kernels that write where they must not, in this process, where no page protects an input.
#include <catch2/catch.hpp>

#include "tests/unit/conformance/found_by.hpp"

namespace rope {
namespace {

using Catch::Contains;
using test::found_by;
using test::right;

TEST_CASE("MEM-02: starts and borders of sequences are inputs, too", "[memory]") {
  const std::string packed = "MEM-02:head_dim=8,seq=5,source=computed,form=cu_seqlens_and_offsets,sequences=2";
  CHECK(found_by(packed, right).passed());
  const auto moving = [&](std::optional<Tensor> Call::*moved) {
    return found_by(packed, [moved](Call& call) {
      const Reply reply = right(call);
      store_integer(*(call.*moved), 1, integer_at(*(call.*moved), 1) + 1);  // as if the tokens were counted there
      return reply;
    });
  };
  CHECK_THAT(moving(&Call::seqlen_offsets).message, Contains("wrote to seqlen_offsets"));
  CHECK_THAT(moving(&Call::cu_seqlens).message, Contains("wrote to cu_seqlens"));
}

}  // namespace
}  // namespace rope
