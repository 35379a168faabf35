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

// The minimal case of MEM-03 that a kernel fails, as text.
std::string failed_by(const Claims& claims, const test::Answer& answer) {
  test::Fake subject(claims, answer);
  Oracles oracles;
  SuiteOptions how;
  how.selection.level = Level::quick;
  how.selection.only = {"MEM-03"};
  const RequirementResult result = run_suite(subject, oracles, all_requirements(), how).results.at(0);
  return result.failure ? to_text(result.failure->minimal) : "";
}

TEST_CASE("MEM-03: a kernel that does not see a gap between batches is rejected", "[memory]") {
  Claims claims = test::all_claims();
  claims.far_tensors = claims.packed_tensors = false;
  const auto as_dense = [](Call& call) {
    return test::readdressed(call, [](Tensor& t) {
      const std::int64_t token = t.shape[2] * t.shape[3];
      if (t.strides[3] == 1 && t.strides[2] == t.shape[3] && t.strides[1] == token) t.strides[0] = t.shape[1] * token;
    });
  };
  CHECK_THAT(failed_by(claims, as_dense), Contains("layout=cached"));
}

TEST_CASE("MEM-03: a kernel that refuses unusual strides along extents of 1 is rejected", "[memory]") {
  const auto strict = [](Call& call) {
    const Tensor usual = Tensor::contiguous(call.q.dtype, call.q.shape);
    return call.q.strides == usual.strides ? right(call) : Reply{ReplyKind::done, ROPE_UNSUPPORTED, "", 0};
  };
  CHECK_THAT(failed_by(test::narrow_claims(), strict), Contains("layout=loose_strides"));
  CHECK(failed_by(test::narrow_claims(), right).empty());
}

}  // namespace
}  // namespace rope
