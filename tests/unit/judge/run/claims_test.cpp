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

// Claims of what every call has, and whether a call has it.
struct EveryCall {
  const char* name;
  void (*claim)(rope_capabilities&);
  bool (*has)(const Call&);
};

void drop(rope_capabilities& k, std::initializer_list<rope_feature> features) {
  for (const rope_feature feature : features) k.features &= ~ROPE_BIT(feature);
}

bool is_packed(const Call& call) {
  return call.k && !call.q.placed_strides.empty() && call.k->behind_q == call.q.shape[2] * call.q.shape[3];
}

bool has_three_axes(const Call& call) {
  if (call.axes != 3) return false;
  for (std::int64_t p = 0; call.axis && p < call.axis->shape[0]; ++p) {
    const std::int64_t axis = integer_at(*call.axis, p);
    if (axis != 0 && axis != p % 3) return false;
  }
  return true;
}

bool has_own_rule(const Call& call) {
  if (call.source != AngleSource::computed) return true;
  const rope_call bound = described(call);
  const bool by_length = follows_length(call.scaling);
  std::int64_t largest = 0;
  for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
      for (const std::int64_t position : token_position(call, b, s)) largest = std::max(largest, position);
    }
  }
  if (by_length && call.sequence_length != largest + 1) return false;
  const bool is_yarn = bound.scaling.kind == ROPE_SCALING_YARN;
  if (is_yarn && (bound.scaling.yarn_clamp_pairs != 0 || bound.scaling.yarn_truncate != 1)) return false;
  const bool stretches = is_yarn || bound.scaling.kind == ROPE_SCALING_LONGROPE;
  return stretches == (call.attention_factor != 1);
}

constexpr EveryCall every_calls[] = {
    {"in place", [](rope_capabilities& k) { k.required_features |= ROPE_BIT(ROPE_FEATURE_IN_PLACE); },
     [](const Call& call) { return call.in_place; }},
    {"positions",
     [](rope_capabilities& k) {
       k.required_features |= ROPE_BIT(ROPE_FEATURE_POSITIONS);
       drop(k, {ROPE_FEATURE_OFFSET, ROPE_FEATURE_SEQLEN_OFFSETS, ROPE_FEATURE_CU_SEQLENS});
     },
     [](const Call& call) { return call.positions.has_value(); }},
    {"q and k, packed",
     [](rope_capabilities& k) {
       k.required_features |= ROPE_BIT(ROPE_FEATURE_KEY);
       k.layouts = ROPE_BIT(ROPE_LAYOUT_PACKED);
       drop(k, {ROPE_FEATURE_STRIDED, ROPE_FEATURE_ANY_STRIDES});
     },
     is_packed},
    {"three interleaved axes",
     [](rope_capabilities& k) {
       k.axis_counts = ROPE_BIT(3);
       k.axis_orders = ROPE_BIT(ROPE_AXES_INTERLEAVED);
     },
     has_three_axes},
    {"its own factor and length, one form of yarn",
     [](rope_capabilities& k) {
       k.scalings = ROPE_BIT(ROPE_SCALING_CONSTANT + 1) - 1;
       k.own_attention_factor = k.length_of_call = 1;
       k.yarn_truncate = ROPE_BIT(1);
       k.yarn_clamp_pairs = ROPE_BIT(0);
       drop(k, {ROPE_FEATURE_ATTENTION_FACTOR});
     },
     has_own_rule},
};

TEST_CASE("a kernel that is never called in some ways conforms if it claims so, and gets no other call", "[claims]") {
  const auto judged = [](std::span<const EveryCall> claimed, Level level) {
    Claims claims = f32_claims();
    for (const EveryCall& one : claimed) one.claim(claims.capabilities);
    std::int64_t others = 0;
    const auto strict = [&](Call& call) {
      for (const EveryCall& one : claimed) others += one.has(call) ? 0 : 1;
      return right(call);
    };
    CHECK(failing(claims, strict, level) == Ids{});
    CHECK(others == 0);
    const auto wrong = [&](Call& call) {  // positions come back to 0 at 4096
      if (call.cos) return right(call);
      Call own = call;
      own.position_offset &= 0xfff;
      if (own.positions) {
        for (std::int64_t i = 0; i < own.positions->count(); ++i) {
          store_integer(*own.positions, i, integer_at(*own.positions, i) & 0xfff);
        }
      }
      const Reply reply = right(own);
      call.q_out = own.q_out, call.k_out = own.k_out;
      if (call.in_place) call.q = own.q, call.k = own.k;
      return reply;
    };
    CHECK_FALSE(failing(claims, wrong, level).empty());
  };
  for (const EveryCall& one : every_calls) {
    INFO(one.name);
    judged(std::span(&one, 1), Level::quick);
  }
  judged(every_calls, Level::quick);
  judged(std::span(every_calls).first(3), Level::full);
}

TEST_CASE("a kernel that is never called in some ways fails if it claims nothing of it", "[claims]") {
  for (const EveryCall& one : every_calls) {
    INFO(one.name);
    Claims claims = f32_claims(), strict = claims;
    one.claim(strict.capabilities);
    claims.capabilities.scalings = strict.capabilities.scalings;
    CHECK_FALSE(failing(claims, [&](Call& call) {
                  return one.has(call) ? right(call) : Reply{ReplyKind::done, ROPE_FAILED, "", 0};
                }).empty());
  }
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
