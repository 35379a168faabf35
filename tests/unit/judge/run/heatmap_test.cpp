#include "tools/judge/run/heatmap.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/judge/run/fake_subject.hpp"

namespace rope {
namespace {

std::vector<Heatmap> heatmaps_of(const Claims& claims, std::function<Reply(Call&)> answer, Selection selection = {},
                                 std::int64_t most_calls = 1000) {
  test::Fake subject(claims, std::move(answer));
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  return measure_heatmaps(examiner, selection, most_calls);
}

Heatmap heatmap_of(std::function<Reply(Call&)> answer) {
  const std::vector<Heatmap> maps = heatmaps_of(test::narrow_claims(), std::move(answer));
  REQUIRE(maps.size() == 1);
  return maps[0];
}

double worst_of(const Heatmap& map, std::size_t column) {
  double worst = 0;
  for (const auto& pair : map.use) worst = std::max(worst, pair[column].value_or(0));
  return worst;
}

TEST_CASE("heatmap: a right kernel stays within the bound in every column up to its last position", "[heatmap]") {
  const Heatmap map = heatmap_of(test::right);
  CHECK(map.dtype == DType::f32);
  CHECK(map.problem.empty());
  CHECK(map.use.size() == 32);
  REQUIRE(map.positions.size() == 22);  // 0, 1, 2, 4, .. 2^20
  CHECK(map.positions[0] == 0);
  CHECK(map.positions[21] == 1 << 20);
  for (std::size_t c = 0; c < map.positions.size(); ++c) {
    for (const auto& pair : map.use) CHECK(pair[c].has_value());
    CHECK(worst_of(map, c) <= 1);
  }
  CHECK(map.grade.grade == "A1");
  CHECK(map.calls <= static_cast<std::int64_t>(map.positions.size()) + 1);
}

TEST_CASE("heatmap: few calls leave columns out, but not the last", "[heatmap]") {
  const std::vector<Heatmap> maps = heatmaps_of(test::narrow_claims(), test::right, {}, 6);
  REQUIRE(maps.size() == 1);
  CHECK(maps[0].calls <= 6);
  CHECK(maps[0].calls >= 4);
  CHECK(maps[0].use[0].back().has_value());
  CHECK_FALSE(maps[0].use[0][19].has_value());
}

TEST_CASE("heatmap: it shows where an error begins", "[heatmap]") {
  // Every output is 1 % too large from position 4096 on.
  const Heatmap map = heatmap_of([](Call& call) {
    const Reply reply = test::right(call);
    for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
      if (call.position_offset + s < 4096) continue;
      for (std::int64_t f = 0; f < call.q.shape[3]; ++f) {
        std::byte* element = call.q_out->data() + (s * call.q.shape[2] * call.q.shape[3] + f) *
                                                      static_cast<std::int64_t>(size_of(call.q_out->dtype));
        store(call.q_out->dtype, element, 1.01 * load(call.q_out->dtype, element));
      }
    }
    return reply;
  });
  for (std::size_t c = 0; c < map.positions.size(); ++c) {
    INFO(map.positions[c]);
    CHECK((worst_of(map, c) > 1) == (map.positions[c] >= 4096));
  }
  CHECK(map.grade.grade.empty());
}

TEST_CASE("heatmap: what is not written is beyond every bound", "[heatmap]") {
  const Heatmap map = heatmap_of([](Call&) { return Reply{}; });
  CHECK(std::isnan(map.use[0][1].value()));
}

TEST_CASE("heatmap: a kernel that does not answer has a problem and no values", "[heatmap]") {
  int calls = 0;
  const Heatmap map = heatmap_of([&](Call&) {
    ++calls;
    Reply reply;
    reply.status = ROPE_FAILED;
    return reply;
  });
  CHECK_THAT(map.problem, Catch::Contains("failed"));
  CHECK(calls == 1);
}

TEST_CASE("heatmap: two runs of a seed give the same map", "[heatmap]") {
  CHECK(heatmap_of(test::right).use == heatmap_of(test::right).use);
}

}  // namespace
}  // namespace rope
