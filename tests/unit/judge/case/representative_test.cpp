#include "tools/judge/case/representative.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/case/any_case.hpp"

namespace rope {
namespace {

using test::all_claims;

Case called(AngleSource source, DType dtype, DType out, DType given, bool full) {
  Case c;
  c.source = source;
  c.dtype = dtype;
  c.out_dtype = out;
  c.given = given;
  c.full_tables = full;
  return c;
}

TEST_CASE("if everything is claimed, f32 and tables of half width stand for the others") {
  const Representative representative(all_claims(), {});
  const Case plain = called(AngleSource::tables, DType::f32, DType::f32, DType::f32, false);
  CHECK(representative.is_type_of(plain));
  CHECK(representative.is_output_type_of(plain));
  CHECK(representative.is_given_type_of(plain));
  CHECK(representative.is_width_of(plain));
  CHECK_FALSE(representative.is_type_of(called(AngleSource::tables, DType::bf16, DType::bf16, DType::f32, false)));
  const Case other_output = called(AngleSource::tables, DType::bf16, DType::f32, DType::f32, false);
  CHECK_FALSE(representative.is_output_type_of(other_output));
  CHECK_FALSE(representative.is_given_type_of(called(AngleSource::tables, DType::f32, DType::f32, DType::f64, false)));
  CHECK_FALSE(representative.is_width_of(called(AngleSource::tables, DType::f32, DType::f32, DType::f32, true)));
  CHECK_FALSE(representative.is_source_of(called(AngleSource::frequencies, DType::f32, DType::f32, DType::f32, false)));
}

TEST_CASE("departures are counted, the type of x not among them") {
  const Representative representative(all_claims(), {});
  const auto departures = [&](AngleSource source, DType dtype, DType out, DType given, bool full) {
    return representative.departures_of(called(source, dtype, out, given, full));
  };
  CHECK(departures(AngleSource::tables, DType::f32, DType::f32, DType::f32, false) == 0);
  CHECK(departures(AngleSource::tables, DType::bf16, DType::bf16, DType::f32, false) == 0);
  CHECK(departures(AngleSource::computed, DType::bf16, DType::f32, DType::f64, false) == 1);
  CHECK(departures(AngleSource::tables, DType::f32, DType::f32, DType::f64, true) == 2);
  CHECK(departures(AngleSource::frequencies, DType::bf16, DType::f32, DType::f64, false) == 3);
}

TEST_CASE("the first claimed one of the requested dtypes stands for the others") {
  const Representative representative(all_claims(), {DType::f16, DType::f64});
  CHECK(representative.is_type_of(called(AngleSource::tables, DType::f16, DType::f16, DType::f32, false)));
  CHECK_FALSE(representative.is_type_of(called(AngleSource::tables, DType::f64, DType::f64, DType::f32, false)));
}

// Otherwise a kernel with few claims would never get the cases that a check has only for the representative.
TEST_CASE("with few claims each requirement still has cases, except those that need more", "[takes_long]") {
  std::vector<Claims> all(10, all_claims());
  all[0].capabilities.angle_sources = ROPE_BIT(ROPE_FREQUENCIES);
  all[1].capabilities.angle_sources = ROPE_BIT(ROPE_FREQUENCIES);
  all[1].capabilities.theta_dtypes = ROPE_BIT(ROPE_F64);
  for (std::size_t i = 2; i < 7; ++i) all[i].capabilities.angle_sources = ROPE_BIT(ROPE_TABLES);
  all[2].capabilities.half_tables = 0;
  all[3].capabilities.table_dtypes = ROPE_BIT(ROPE_F64);
  all[4].capabilities.table_dtypes = ROPE_BIT(ROPE_BF16);
  for (std::uint32_t& out : all[4].capabilities.out_dtypes) out = 0;
  all[4].capabilities.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_BF16);
  for (std::uint32_t& out : all[5].capabilities.out_dtypes) out = 0;
  all[5].capabilities.out_dtypes[ROPE_F16] = ROPE_BIT(ROPE_F32);
  for (std::uint32_t& out : all[6].capabilities.out_dtypes) out = 0;
  all[6].capabilities.out_dtypes[ROPE_F64] = ROPE_BIT(ROPE_F64);
  for (std::uint32_t& out : all[7].capabilities.out_dtypes) out = 0;
  all[7].capabilities.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_BF16);
  for (std::uint32_t& out : all[8].capabilities.out_dtypes) out = 0;
  all[8].capabilities.out_dtypes[ROPE_F64] = ROPE_BIT(ROPE_F32);
  Claims& one_way = all[9];  // f32 from half-width f32 tables, one pairing, nothing in place
  one_way.capabilities.angle_sources = ROPE_BIT(ROPE_TABLES);
  one_way.capabilities.table_dtypes = ROPE_BIT(ROPE_F32);
  one_way.capabilities.full_tables = 0;
  one_way.capabilities.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  for (std::uint32_t& out : one_way.capabilities.out_dtypes) out = 0;
  one_way.capabilities.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  one_way.capabilities.features &= ~ROPE_BIT(ROPE_FEATURE_IN_PLACE);
  // ANG-06 and ERR-03 are about tables, ERR-06 about calls without them. In place, there and back, and two turns in a row need results in x's type.
  // ROT-13 needs results in 16 bits.
  const std::set<std::string> without[] = {{"ANG-06", "ERR-03"},
                                           {"ANG-06", "ERR-03"},
                                           {"ERR-06"},
                                           {"ERR-06"},
                                           {"ERR-06"},
                                           {"BWD-01", "ERR-06", "MEM-04", "MEM-05", "ROT-08", "ROT-13"},
                                           {"ERR-06", "ROT-13"},
                                           {"BWD-01", "MEM-04", "MEM-05", "ROT-08"},
                                           {"BWD-01", "MEM-04", "MEM-05", "ROT-08", "ROT-13"},
                                           {"ANG-06", "ERR-06", "MEM-04", "MEM-05", "ROT-13"}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Level level : {Level::quick, Level::full}) {
      Selection selection;
      selection.level = level;
      std::set<std::string> none;
      for (const Requirement& requirement : all_requirements()) {
        CaseList asked(requirement.id, all[i], selection, nullptr);
        requirement.cases(asked);
        CaseList everything(requirement.id, all_claims(), selection, nullptr);
        requirement.cases(everything);
        if (asked.take().empty() && !everything.take().empty()) none.insert(std::string(requirement.id));
      }
      INFO("claims " << i << ", level " << static_cast<int>(level));
      CHECK(none == without[i]);
    }
  }
}

std::set<std::string> not_asked(const Claims& claims) {
  Selection selection;
  selection.level = Level::quick;
  std::set<std::string> none;
  for (const Requirement& requirement : all_requirements()) {
    CaseList asked(requirement.id, claims, selection, nullptr);
    requirement.cases(asked);
    if (asked.take().empty()) none.insert(std::string(requirement.id));
  }
  return none;
}

TEST_CASE("a kernel that claims a single scaling rule is asked what a kernel without rules is asked", "[takes_long]") {
  Claims plain = all_claims();
  plain.capabilities.angle_sources = ROPE_BIT(ROPE_COMPUTED);
  plain.capabilities.scalings = ROPE_BIT(ROPE_SCALING_NONE);
  std::set<std::string> expected = not_asked(plain);
  expected.erase("ANG-04");  // it asks for rules
  for_each_rule([&](const auto& kind) {
    const Scaling rule = kind;
    if (rule.index() == 0 || follows_length(rule)) return;
    Claims claims = plain;
    claims.capabilities.scalings = 1u << rule.index();
    INFO(kind_of(rule));
    std::set<std::string> of_rule = expected;
    const auto partial = example_rules({64, 32, 10000, 0}, 4096);
    const bool leaves_a_rest =
        std::ranges::any_of(partial, [&](const auto& e) { return e.rule.index() == rule.index(); });
    if (!leaves_a_rest) of_rule.insert({"ROT-09", "OFF-01", "OFF-02"});  // the rule is defined on the whole head
    CHECK(not_asked(claims) == of_rule);
    claims.capabilities.features &= ~ROPE_BIT(ROPE_FEATURE_ATTENTION_FACTOR);
    CHECK_FALSE(not_asked(claims).contains("ROT-01"));
    CHECK_FALSE(not_asked(claims).contains("POS-01"));
  });
}

}  // namespace
}  // namespace rope
