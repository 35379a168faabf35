#include "tools/judge/case/case_list.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

std::vector<std::string> texts(CaseList& list) {
  std::vector<std::string> result;
  for (const Case& c : list.take()) result.push_back(to_text(c));
  return result;
}

TEST_CASE("a proposal is kept once, under the requirement's id, where the claims cover it", "[case_list]") {
  Claims claims = test::all_claims();
  claims.capabilities.features &= ~ROPE_BIT(ROPE_FEATURE_BACKWARD);
  const Selection selection;
  CaseList list("ROT-01", claims, selection, nullptr);
  Case c;
  c.requirement = "something else";
  list.add(c);
  list.add(c);
  c.direction = Direction::backward;
  list.add(c);
  c.direction = Direction::forward;
  c.seq = 2;
  list.add(c);
  CHECK(texts(list) == std::vector<std::string>{"ROT-01:", "ROT-01:seq=2"});
}

TEST_CASE("each case knows the line that proposed it first, also a random one", "[case_list]") {
  Selection selection;
  selection.level = Level::quick;
  CaseList list("ROT-01", test::all_claims(), selection, nullptr);
  Case c;
  const Proposal here = Proposal::current();
  list.add(c);  // 1 line below `here`
  list.add(c);  // again
  c.seq = 2;
  list.add_in_turn(0, {c});                                     // 4
  list.add_random(10, [](Case& random) { random.batch = 3; });  // 5
  list.add_pairwise();                                          // 6
  std::vector<std::uint_least32_t> below;
  for (const Proposal& at : list.proposals()) below.push_back(at.line() - here.line());
  CHECK(below.size() == list.take().size());
  CHECK(std::ranges::is_sorted(below));
  below.erase(std::ranges::unique(below).begin(), below.end());
  CHECK(below == std::vector<std::uint_least32_t>{1, 4, 5, 6});
}

TEST_CASE("listing cases ends when it is stopped", "[case_list]") {
  Stop stop;
  CaseList list("ROT-01", test::all_claims(), {}, nullptr, &stop);
  list.add_random(1, [](Case&) {});
  stop.request();
  CHECK_THROWS_AS(list.add_random(1, [](Case&) {}), Interrupted);
  CHECK_THROWS_AS(list.add_pairwise(), Interrupted);
}

TEST_CASE("level quick takes one case in turn, the next one if the claims do not cover it", "[case_list]") {
  Claims claims = test::all_claims();
  claims.capabilities.features &= ~ROPE_BIT(ROPE_FEATURE_BACKWARD);
  Case one, backward, other;
  one.seq = 1;
  backward.direction = Direction::backward;
  other.seq = 2;
  const auto in_turn = [&](Level level, std::size_t turn) {
    Selection selection;
    selection.level = level;
    CaseList list("ROT-01", claims, selection, nullptr);
    list.add_in_turn(turn, {one, backward, other});
    return texts(list);
  };
  const std::string first = "ROT-01:seq=1", second = "ROT-01:seq=2";
  CHECK(in_turn(Level::quick, 0) == std::vector{first});
  CHECK(in_turn(Level::quick, 1) == std::vector{second});
  CHECK(in_turn(Level::quick, 2) == std::vector{second});
  CHECK(in_turn(Level::quick, 3) == std::vector{first});
  for (const std::size_t turn : {0u, 1u}) CHECK(in_turn(Level::full, turn) == std::vector{first, second});
}

TEST_CASE("a selection of dtypes and pairing excludes the others", "[case_list]") {
  const Claims claims = test::all_claims();
  Selection selection;
  selection.dtypes = {DType::bf16};
  selection.pairing = Pairing::interleaved;
  CaseList list("ROT-01", claims, selection, nullptr);
  list.for_each_variant(64, [&](const Case& c) { list.add(c); });
  list.add_random(40, [](Case& c) { c.dtype = c.out_dtype = DType::bf16, c.in_place = false; });
  list.add(Case{});
  const std::vector<Case> cases = list.take();
  CHECK(cases.size() > 40);
  for (const Case& c : cases) {
    CHECK(c.dtype == DType::bf16);
    CHECK(c.spec.pairing == Pairing::interleaved);
  }
}

TEST_CASE("no case has a position at or beyond the model's longest sequence", "[case_list]") {
  const Claims claims = test::all_claims();
  Selection selection;
  selection.most_tokens = 100;
  CaseList list("ROT-01", claims, selection, nullptr);
  Case c;
  c.seq = 4;
  c.start = 96;
  list.add(c);
  c.start = 97;
  list.add(c);
  list.add_random(100, [](Case&) {});
  const std::vector<Case> cases = list.take();
  CHECK(cases.size() > 10);
  for (const Case& one : cases) CHECK(largest_position(one) < 100);
  CHECK(cases.front().start == 96);
}

TEST_CASE("a selected spec replaces every other", "[case_list]") {
  const Claims claims = test::all_claims();
  Selection selection;
  selection.spec = RopeSpec{};
  selection.spec->head_dim = 80;
  selection.spec->rotary_dim = 32;
  selection.spec->base = 5e5;
  CaseList list("ROT-01", claims, selection, nullptr);
  list.for_each_variant(64, [&](const Case& c) { list.add(c); });
  list.add_random(40, [](Case&) {});
  const std::vector<Case> cases = list.take();
  CHECK(cases.size() > 40);
  for (const Case& c : cases) CHECK(test::same(c.spec, *selection.spec));
}

TEST_CASE("a selected spec for any pairing comes with each that is claimed", "[case_list]") {
  Claims claims = test::all_claims();
  Selection selection;
  selection.spec.emplace().head_dim = 64;
  selection.spec->rotary_dim = 64;
  selection.any_pairing = true;
  const auto pairings = [&] {
    CaseList list("ROT-01", claims, selection, nullptr);
    list.for_each_variant(64, [&](const Case& c) { list.add(c); });
    list.add_random(40, [](Case&) {});
    list.add_pairwise();
    std::set<Pairing> found;
    for (const Case& c : list.take()) {
      found.insert(c.spec.pairing);
      CHECK(test::same(c.spec, selection.spec_for(c.spec)));
    }
    return found;
  };
  CHECK(pairings() == std::set{Pairing::half_split, Pairing::interleaved});
  claims.capabilities.pairings = ROPE_BIT(ROPE_INTERLEAVED);
  CHECK(pairings() == std::set{Pairing::interleaved});
}

TEST_CASE("for_each_variant proposes every claimed way once, and nothing else", "[case_list]") {
  Claims claims = test::all_claims();
  Selection selection;
  selection.level = Level::exhaustive;
  std::vector<std::string> ways;
  const auto collect = [&](const Case& c) {
    CHECK(uncovered(c, claims).empty());
    CHECK((c.batch == 2 && c.seq == 3 && c.heads == 2));
    ways.push_back(to_text(c));
  };
  CaseList("ROT-01", claims, selection, nullptr).for_each_variant(64, collect);
  CHECK(std::set<std::string>(ways.begin(), ways.end()).size() == ways.size());
  // For each of 2 pairings: inputs f32 and f64 with one output, bf16 and f16 with two. Each of these with
  // computed angles, and with f32 and f64 frequencies. And with tables of both widths in f32, f64 and the type of a
  // narrower x.
  CHECK(ways.size() == std::size_t{2} * (2 * (1 + 2 + 2 * 2) + 4 * (1 + 2 + 3 * 2)));

  claims.capabilities.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  claims.capabilities.angle_sources = ROPE_BIT(ROPE_TABLES);
  claims.capabilities.full_tables = 0;
  claims.capabilities.table_dtypes = ROPE_BIT(ROPE_F32);
  for (auto& outputs : claims.capabilities.out_dtypes) outputs = 0;
  claims.capabilities.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  claims.head_dims = {96, 128};
  ways.clear();
  CaseList("ROT-01", claims, selection, nullptr).for_each_variant(64, collect);
  CHECK(ways == std::vector<std::string>{":head_dim=96,batch=2,seq=3"});
  ways.clear();
  CaseList("ROT-01", claims, selection, nullptr).for_each_variant(128, collect);
  CHECK(ways == std::vector<std::string>{":batch=2,seq=3"});
}

TEST_CASE("walks share the ways that depart from the usual", "[case_list]") {
  const Claims claims = test::all_claims();
  const auto walk = [](CaseList& list) {
    std::set<std::string> ways;
    list.for_each_variant(64, [&](const Case& c) { ways.insert(to_text(c)); });
    return ways;
  };
  const auto list_at = [&](Level level, const char* requirement) {
    Selection selection;
    selection.level = level;
    return CaseList(requirement, claims, selection, nullptr);
  };
  CaseList whole = list_at(Level::exhaustive, "");
  const std::set<std::string> all = walk(whole);
  for (const Level level : {Level::quick, Level::full}) {
    CAPTURE(level);
    CaseList list = list_at(level, "");
    std::map<std::string, int> times;
    constexpr int walks = 6;
    for (int i = 0; i < walks; ++i) {
      for (const std::string& way : walk(list)) ++times[way];
    }
    if (level == Level::full) CHECK(times.size() == all.size());
    std::array<int, 3> seen{};
    for (const auto& [way, count] : times) {
      CAPTURE(way);
      const Case c = case_from_text("ROT-01" + way);
      const int departures = std::min(list.representative().departures_of(c), 2);
      const bool once = departures == 1 && list.representative().is_source_of(c) && level == Level::quick;
      CHECK(count == (departures == 2 ? walks / 3 : once ? walks / 2 : walks));
      ++seen[static_cast<std::size_t>(departures)];
    }
    CHECK(*std::ranges::min_element(seen) >= 4);
  }
  CaseList one = list_at(Level::full, "a"), other = list_at(Level::full, "b");
  CHECK(walk(one) != walk(other));
}

TEST_CASE("the level sets the number of random cases", "[case_list]") {
  const Claims claims = test::all_claims();
  const auto count = [&](Level level) {
    Selection selection;
    selection.level = level;
    CaseList list("ROT-01", claims, selection, nullptr);
    list.add_random(100, [](Case&) {});
    return list.take().size();
  };
  CHECK(count(Level::quick) == 10);
  CHECK(count(Level::full) == 100);
  CHECK(count(Level::exhaustive) == 1000);
}

TEST_CASE("random cases follow seed and requirement, and only wanted ones are kept", "[case_list]") {
  const Claims claims = test::all_claims();
  const auto drawn = [&](std::string_view requirement, std::uint64_t seed) {
    Selection selection;
    selection.seed = seed;
    CaseList list(requirement, claims, selection, nullptr);
    list.add_random(
        20, [](Case&) {}, [](const Case& c) { return c.batch > 1; });
    std::vector<std::string> result = texts(list);
    for (std::string& text : result) {
      CHECK_THAT(text, Catch::Contains("batch="));
      text = text.substr(text.find(':'));
    }
    return result;
  };
  CHECK_FALSE(drawn("ROT-01", 1).empty());
  CHECK(drawn("ROT-01", 1) == drawn("ROT-01", 1));
  CHECK(drawn("ROT-01", 1) != drawn("ROT-01", 2));
  CHECK(drawn("ROT-01", 1) != drawn("ROT-02", 1));
}

TEST_CASE("a subject that claims nothing has no cases", "[case_list]") {
  const Claims claims = test::no_claims();
  const Selection selection;
  CaseList list("ROT-01", claims, selection, nullptr);
  list.for_each_variant(64, [&](const Case& c) { list.add(c); });
  list.add_random(100, [](Case&) {});
  list.add(Case{});
  CHECK(list.take().empty());
}

TEST_CASE("every case has a valid spec, whatever head_dims are claimed", "[case_list][takes_long]") {
  const std::vector<std::int32_t> head_dims =
      GENERATE(std::vector<std::int32_t>{}, std::vector<std::int32_t>{2}, std::vector<std::int32_t>{4},
               std::vector<std::int32_t>{6}, std::vector<std::int32_t>{128}, std::vector<std::int32_t>{80, 576});
  const Level level = GENERATE(Level::quick, Level::full);
  Claims claims = test::all_claims();
  claims.head_dims = head_dims;
  Selection selection;
  selection.level = level;
  for (const Requirement& requirement : all_requirements()) {
    CaseList list(requirement.id, claims, selection, nullptr);
    requirement.cases(list);
    for (const Case& c : list.take()) {
      INFO(to_text(c));
      CHECK_NOTHROW(validate(c.spec));
    }
  }
}

}  // namespace
}  // namespace rope
