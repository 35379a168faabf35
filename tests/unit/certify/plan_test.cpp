// The plan: its ranges, its text and its digest.
#include "tools/certify/plan.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "impls/builtin.hpp"
#include "reference/foreign_json.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/run/kernel_subject.hpp"

namespace rope::certify {
namespace {

Claims half_split_claims() { return KernelSubject(half_split_kernel()).claims(); }

Plan plan_of(const Claims& claims, std::int64_t positions = 100'000) {
  Request request{claims, {Selection{}}, positions, {"positions"}};
  return make_plan(request, {}, "1");
}

TEST_CASE("certify: a feature that was claimed later is named, and is another claim") {
  Claims before = half_split_claims();
  before.capabilities.features &= ~(ROPE_BIT(ROPE_FEATURE_ROTARY_OFFSET) | ROPE_BIT(ROPE_FEATURE_KEY));
  const Plan plan = plan_of(before);
  CHECK(features_since(plan, half_split_claims()) == std::vector<std::string>{"key", "rotary_offset"});
  CHECK(features_since(plan, before).empty());
  CHECK_FALSE(claims_difference(plan, half_split_claims()).empty());
  CHECK(claims_difference(plan, before).empty());
}

TEST_CASE("certify: the blocks of a sweep hold each element once, and each call covers what it says") {
  for (const Sweep& sweep : plan_of(half_split_claims()).sweeps) {
    std::int64_t next = 0;
    for (std::int64_t block = 0; block < sweep.blocks(); ++block) {
      const Range range = sweep.range(block);
      CHECK(range.first == next);
      for (const Part& part : kind_called(sweep.kind).parts(sweep, range)) {
        CHECK(part.c.start == next);
        CHECK(part.elements == part.c.seq);
        CHECK(uncovered(part.c, half_split_claims()).empty());
        next += part.elements;
      }
    }
    CHECK(next == sweep.size);
  }
}

TEST_CASE("certify: the sweeps of alignments have every pair of addresses once, and claims leave some out") {
  Claims claims = half_split_claims();
  Request request{claims, {Selection{}}, 1, {"alignments"}};
  std::set<std::string> seen;
  for (const Sweep& sweep : make_plan(request, {}, "1").sweeps) {
    std::set<std::array<int, 4>> addresses;
    for (const Part& part : kind_called("alignments").parts(sweep, {0, sweep.size})) {
      const Case& c = part.c;
      CHECK(uncovered(c, claims).empty());
      CHECK(seen.insert(to_text(c)).second);
      addresses.insert({c.in_place, c.key_heads, c.address, c.output_address});
    }
    const std::int64_t n = 64 / static_cast<std::int64_t>(size_of(sweep.base.dtype));
    CHECK(sweep.size == 3 * n * n + n);
    CHECK(static_cast<std::int64_t>(addresses.size()) == sweep.size);
  }
  claims.capabilities.alignment = 32;
  request.claims = claims;
  const Sweep sweep = make_plan(request, {}, "1").sweeps.front();
  const std::vector<Part> parts = kind_called("alignments").parts(sweep, {0, sweep.size});
  const auto is_claimed = [&](const Part& part) { return uncovered(part.c, claims).empty(); };
  CHECK(std::ranges::count_if(parts, is_claimed) == 3 * 2 * 2 + 2);
}

TEST_CASE("certify: roundings with tables in f32 have every value of their exponents, once, times 1024 rows") {
  const Request request{half_split_claims(), {Selection{}}, 1, {"roundings"}};
  std::set<DType> seen;
  for (const Sweep& sweep : make_plan(request, {}, "1").sweeps) {
    if (sweep.base.given != DType::f32) continue;
    seen.insert(sweep.base.dtype);
    std::set<double> values;
    for (std::int64_t block = 0; block < sweep.blocks(); ++block) {
      for (const Part& part : kind_called("roundings").parts(sweep, sweep.range(block))) {
        CHECK(part.elements == part.c.heads * 1024 * 64);
        for (int head = 0; head < part.c.heads; ++head) {
          const auto bits = static_cast<std::uint16_t>(part.c.seed + static_cast<std::uint64_t>(head));
          CHECK(values.insert(load(part.c.dtype, reinterpret_cast<const std::byte*>(&bits))).second);
        }
      }
    }
    const bool is_bf16 = sweep.base.dtype == DType::bf16;
    CHECK(values.size() == (is_bf16 ? 2 * 16 * 128 : 2 * 4 * 1024));
    CHECK(sweep.size == static_cast<std::int64_t>(values.size()) * 1024 * 64);
    CHECK(*values.rbegin() < (is_bf16 ? 256 : 4));
    CHECK(*values.begin() == -*values.rbegin());
    CHECK(*values.upper_bound(0) == (is_bf16 ? 1.0 / 256 : 1.0 / 4));
  }
  CHECK(seen.size() == 2);
}

TEST_CASE("certify: every claimed dtype, source and scaling rule is swept over positions") {
  std::set<std::pair<DType, AngleSource>> seen;
  std::set<std::size_t> rules;
  for (const Sweep& sweep : plan_of(half_split_claims()).sweeps) {
    seen.insert({sweep.base.dtype, sweep.base.source});
    if (sweep.base.source == AngleSource::computed) rules.insert(sweep.base.spec.scaling.index());
    if (sweep.base.source != AngleSource::tables) CHECK(sweep.size == 100'000);
  }
  CHECK(seen.size() == 12);
  CHECK(rules.size() == scaling_kind_count);
}

TEST_CASE("certify: a sweep over positions ends with the last claimed one") {
  Claims claims = half_split_claims();
  claims.capabilities.max_position = 4095;
  for (const Sweep& sweep : plan_of(claims).sweeps) CHECK(sweep.size == 4096);
}

TEST_CASE("certify: a kernel that cannot begin at any position is swept from 0") {
  Claims claims = half_split_claims();
  claims.capabilities.features &= ~(ROPE_BIT(ROPE_FEATURE_OFFSET) | ROPE_BIT(ROPE_FEATURE_POSITIONS) |
                                    ROPE_BIT(ROPE_FEATURE_BATCH_POSITIONS) | ROPE_BIT(ROPE_FEATURE_SEQLEN_OFFSETS));
  const Plan plan = plan_of(claims);
  for (const Sweep& sweep : plan.sweeps) {
    CHECK(sweep.blocks() == 1);
    CHECK(kind_called(sweep.kind).parts(sweep, sweep.range(0)).front().c.seq == sweep.size);
  }
}

TEST_CASE("certify: a plan's text makes the same plan again, and its digest names it") {
  const Plan plan = plan_of(half_split_claims());
  const Plan again = plan_from_json(parse_json(to_json(plan).dump(1), "plan.json"), "plan.json");
  CHECK(difference(again, plan).empty());
  CHECK(digest(again) == digest(plan));
  Plan other = plan;
  --other.sweeps.back().size;
  CHECK(digest(other) != digest(plan));
  CHECK_THAT(difference(other, plan), Catch::Contains("sweep " + std::to_string(plan.sweeps.size())));
}

TEST_CASE("certify: what cannot be a plan is refused with its place") {
  const Json good = to_json(plan_of(half_split_claims()));
  const auto refusal = [&](const std::function<void(Json&)>& change) {
    Json json = good;
    change(json);
    try {
      plan_from_json(json, "plan.json");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  using Catch::Contains;
  CHECK_THAT(refusal([](Json& json) { json["schema"] = 2; }), Contains("plan.json: schema 2 is not known"));
  CHECK_THAT(refusal([](Json& json) { json["required"] = "D9"; }), Contains("plan.json.required: \"D9\""));
  CHECK_THAT(refusal([](Json& json) { json["sweeps"][1]["kind"] = "all"; }), Contains("\"all\" is not known"));
  CHECK_THAT(refusal([](Json& json) { json["sweeps"][1]["block"] = 0; }), Contains("plan.json.sweeps[1]"));
  CHECK_THAT(refusal([](Json& json) { json["more"] = 1; }), Contains("unknown field \"more\""));
  CHECK_THAT(refusal([](Json& json) { json.erase("sweeps"); }), Contains("sweeps are missing"));
}

}  // namespace
}  // namespace rope::certify
