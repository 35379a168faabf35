// The plan: its ranges, its text and its digest.
#include "tools/certify/plan.hpp"

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
                                    ROPE_BIT(ROPE_FEATURE_BATCH_POSITIONS));
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
