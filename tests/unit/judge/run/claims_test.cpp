// Claims that make a kernel's duties fewer: with them it conforms, without them it does not.
#include <catch2/catch.hpp>
#include <algorithm>
#include <set>
#include <utility>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"
#include "tests/unit/places.hpp"
#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/run/suite.hpp"
#include "tools/worker/client/library_subject.hpp"

namespace rope {
namespace {

using test::Fake;
using test::right;

using Ids = std::vector<std::string>;

// The requirements that fail, at level quick unless another is named.
Ids failing(const Claims& claims, const std::function<Reply(Call&)>& answer, Level level = Level::quick) {
  Fake subject(claims, answer);
  SuiteOptions how;
  how.selection.level = level;
  how.shrinks = false;
  Oracles oracles;
  const SubjectReport report = run_suite(subject, oracles, all_requirements(), how);
  CHECK(report.executed() > 300);
  Ids ids;
  for (const RequirementResult& result : report.results) {
    if (result.verdict == Verdict::fail) ids.push_back(result.id);
  }
  return ids;
}

Claims f32_claims() {
  Claims claims = test::all_claims();
  rope_capabilities& k = claims.capabilities;
  for (std::uint32_t& outputs : k.out_dtypes) outputs = 0;
  k.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  k.pairings = ROPE_BIT(ROPE_HALF_SPLIT);  // all that `right` can
  k.scalings = ROPE_BIT(ROPE_SCALING_NONE);
  k.max_position = 5000;
  claims.far_tensors = claims.compiled = false;
  return claims;
}

TEST_CASE("a kernel that overwrites its inputs conforms if it claims to", "[claims]") {
  const auto overwriting = [](Call& call) {
    const Reply reply = right(call);
    if (reply.status == ROPE_OK && !call.in_place && !call.q.null && !call.q.bytes.empty()) {
      for_each_row(call.q, [&](const RowIndex&, std::byte* data) { *data = std::byte{1}; });
    }
    return reply;
  };
  Claims claims = f32_claims();
  CHECK_FALSE(failing(claims, overwriting).empty());
  claims.capabilities.overwrites_inputs = 1;
  CHECK(failing(claims, overwriting) == Ids{});
}

TEST_CASE("a kernel of one base conforms if it claims that base", "[claims]") {
  const auto of_one_base = [](Call& call) {
    Call own = call;
    own.base = 500000;
    if (call.source != AngleSource::computed) return right(call);
    const Reply reply = right(own);
    call.q_out = own.q_out, call.k_out = own.k_out;
    if (call.in_place) call.q = own.q, call.k = own.k;
    return reply;
  };
  Claims claims = f32_claims();
  std::int64_t computed = 0;
  const auto counted = [&](Call& call) {
    computed += call.source == AngleSource::computed ? 1 : 0;
    return of_one_base(call);
  };
  CHECK_FALSE(failing(claims, counted).empty());
  const std::int64_t before = std::exchange(computed, 0);
  claims.capabilities.base = 500000;
  CHECK(failing(claims, counted) == Ids{});
  // Cases get the claimed base. They are not left out.
  CHECK(4 * computed > 3 * before);
}

TEST_CASE("where only a base is asked for, every case has it, the shrunk ones too", "[claims]") {
  std::set<double> bases;
  Fake subject(f32_claims(), [&](Call& call) {
    if (call.source == AngleSource::computed) bases.insert(call.base);
    return call.q.shape[1] > 2 ? Reply{ReplyKind::done, ROPE_FAILED, "", 0} : right(call);
  });
  SuiteOptions how;
  how.selection.level = Level::quick;
  how.selection.only = {"ROT-01", "ANG-01", "POS-01"};
  how.selection.base = 500000;
  Oracles oracles;
  const SubjectReport report = run_suite(subject, oracles, all_requirements(), how);
  CHECK(bases == std::set<double>{500000});
  REQUIRE(report.results.at(0).failure.has_value());
  CHECK(report.results.at(0).failure->minimal.spec.base == 500000);
}

TEST_CASE("a kernel that needs a row for each token, and two pairs, conforms if it claims so", "[claims]") {
  Claims claims = f32_claims();
  const auto with_rows = [](Call& call) {
    return call.cos && call.q.shape[1] > call.cos->shape[0] ? Reply{ReplyKind::done, ROPE_FAILED, "", 0} : right(call);
  };
  std::int64_t repeating = 0;  // calls whose positions are all below the number of tokens less one
  const auto counted = [&](Call& call) {
    std::int64_t largest = 0;
    for (std::int64_t s = 0; s < call.q.shape[1] && call.q.shape[0] > 0; ++s) {
      for (const std::int64_t position : token_position(call, 0, s)) largest = std::max(largest, position);
    }
    repeating += call.cos && call.q.shape[1] > largest + 1 ? 1 : 0;
    return with_rows(call);
  };
  CHECK_FALSE(failing(claims, counted, Level::full).empty());
  const std::int64_t before = std::exchange(repeating, 0);
  claims.capabilities.seq_within_rows = 1;
  CHECK(failing(claims, counted, Level::full) == Ids{});
  // Their tables get more rows. They are not left out.
  CAPTURE(repeating, before);
  CHECK(4 * repeating > 3 * before);
  const auto with_pairs = [](Call& call) {
    return call.rotary_dim == 2 ? Reply{ReplyKind::done, ROPE_FAILED, "", 0} : right(call);
  };
  CHECK_FALSE(failing(claims, with_pairs).empty());
  claims.capabilities.least_rotary_dim = 4;
  CHECK(failing(claims, with_pairs) == Ids{});
}

TEST_CASE("a kernel that turns theta into periods conforms if it claims to", "[claims]") {
  const auto periods = open_library(build_folder() / "legal_o3.so", "periods");
  Claims claims = periods->claims();
  claims.far_tensors = claims.compiled = false;
  const auto by_period = [&](Call& call) { return periods->apply(call); };
  CHECK(claims.capabilities.theta_as_period == 1);
  CHECK(failing(claims, by_period) == Ids{});
  claims.capabilities.theta_as_period = 0;
  CHECK_FALSE(failing(claims, by_period).empty());
}

TEST_CASE("the last feature of odd heads is asked for where they are claimed", "[claims]") {
  Claims claims = f32_claims();
  claims.head_dims = {64, 65};
  CHECK(failing(claims, right) == Ids{});
  const auto drops_last = [](Call& call) {
    const Reply reply = right(call);
    const std::int64_t last = call.q.shape[3] - 1;
    if (reply.status != ROPE_OK || last % 2 != 0) return reply;
    for_each_row(call.in_place ? call.q : *call.q_out, [&](const RowIndex&, std::byte* data) {
      store(DType::f32, data + last * (call.in_place ? call.q : *call.q_out).strides[3] * 4, 0);
    });
    return reply;
  };
  CHECK_FALSE(failing(claims, drops_last).empty());
  claims.head_dims = {65};
  CHECK(failing(claims, right) == Ids{});
  CHECK_FALSE(failing(claims, drops_last).empty());
}

}  // namespace
}  // namespace rope
