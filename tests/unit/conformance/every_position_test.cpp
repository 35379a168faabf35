// Kernels that are wrong from one position on, in one block of positions, or at the multiples of one number: whatever
// the power of two, and whatever way positions are given in.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/unit/diagnose/subjects.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope {
namespace {

using Shift = std::function<std::int64_t(std::int64_t)>;

std::int64_t largest_of(const Call& call) {
  std::int64_t largest = call.position_offset + call.q.shape[1] - 1;
  if (!call.positions) return largest;
  for (std::int64_t i = 0; i < call.positions->count(); ++i)
    largest = std::max(largest, integer_at(*call.positions, i));
  return largest;
}

// The call with other positions, which are given if some of them changes.
void mislead(Call& call, const Shift& wrong) {
  Tensor given = Tensor::contiguous(DType::i64, {1, 1, call.q.shape[1]});
  bool changes = false;
  for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
    const std::int64_t right = call.positions ? integer_at(*call.positions, s) : call.position_offset + s;
    store_integer(given, s, wrong(right));
    changes = changes || wrong(right) != right;
  }
  if (!changes || call.q.shape[0] > 1 || call.axes > 1) return;  // one row of positions is enough here
  given.strides[1] = 0;
  call.positions = given;
  call.position_offset = 0;
}

enum class Manner { offset, positions, in_place_with_positions };

Claims claims_of_way(Manner way, AngleSource source) {
  Claims claims = test::narrow_claims();
  rope_capabilities& k = claims.capabilities;
  k.angle_sources = ROPE_BIT(static_cast<int>(source));
  k.table_dtypes = k.theta_dtypes = ROPE_BIT(ROPE_F32);
  k.half_tables = 1;
  k.position_dtypes = ROPE_BIT(ROPE_I32) | ROPE_BIT(ROPE_I64);
  k.max_position = std::int64_t{1} << 32;
  k.features = way == Manner::offset ? ROPE_BIT(ROPE_FEATURE_OFFSET) : ROPE_BIT(ROPE_FEATURE_POSITIONS);
  if (way == Manner::in_place_with_positions) k.features |= ROPE_BIT(ROPE_FEATURE_IN_PLACE);
  claims.far_tensors = claims.compiled = true;
  return claims;
}

bool is_rejected(const Claims& claims, const std::function<void(Call&)>& change,
                 std::vector<std::string> requirements) {
  test::Fake with_modified_call = test::with_modified_call(change);
  test::Fake subject(claims, [&](Call& call) { return with_modified_call.apply(call); });
  Oracles oracles;
  SuiteOptions how;
  how.selection.level = Level::quick;
  how.selection.only = std::move(requirements);
  how.fail_fast = true;
  const SubjectReport report = run_suite(subject, oracles, all_requirements(), how);
  return report.count(Verdict::fail) > 0;
}

TEST_CASE("ANG-02, ANG-03: wrong from a power of two on, in a block, or at its multiples is rejected at level quick",
          "[every position]") {
  const std::pair<const char*, std::function<Shift(std::int64_t)>> kinds[] = {
      {"from on", [](std::int64_t n) { return [n](std::int64_t p) { return p < n ? p : p & (n - 1); }; }},
      {"in a block",
       [](std::int64_t n) { return [n](std::int64_t p) { return p >= n && p < n + 64 ? p / 2 : p; }; }},
      {"at multiples", [](std::int64_t n) { return [n](std::int64_t p) { return p > 0 && p % n == 0 ? p / 2 : p; }; }},
      {"at one position", [](std::int64_t n) { return [n](std::int64_t p) { return p == n ? p / 2 : p; }; }}};
  int turn = 0;
  for (int power = 7; power <= 31; ++power) {
    for (const auto& [name, kind] : kinds) {
      const Manner way = turn % 3 == 0   ? Manner::offset
                         : turn % 3 == 1 ? Manner::positions
                                         : Manner::in_place_with_positions;
      const AngleSource source = turn % 2 == 0 ? AngleSource::tables : AngleSource::computed;
      ++turn;
      INFO(name << " 2^" << power << ", way " << static_cast<int>(way) << ", " << rope::name(source));
      const Shift wrong = kind(std::int64_t{1} << power);
      const auto change = [&](Call& call) { mislead(call, wrong); };
      CHECK(is_rejected(claims_of_way(way, source), change, {"ANG-02", "ANG-03"}));
    }
  }
}

TEST_CASE("ANG-02: one wrong position anywhere below 65,536 is rejected at level quick", "[every position]") {
  for (const std::int64_t at : {1, 77, 4095, 23'456, 40'001, 65'535}) {
    const auto change = [at](Call& call) { mislead(call, [at](std::int64_t p) { return p == at ? p / 2 : p; }); };
    for (const Manner way : {Manner::offset, Manner::positions, Manner::in_place_with_positions}) {
      INFO(at << ", way " << static_cast<int>(way));
      CHECK(is_rejected(claims_of_way(way, AngleSource::tables), change, {"ANG-02"}));
    }
  }
}

TEST_CASE("ANG-02: one wrong position of one type is rejected at level quick where only wide heads are claimed",
          "[every position]") {
  Claims claims = claims_of_way(Manner::in_place_with_positions, AngleSource::tables);
  claims.head_dims = {128};
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    claims.capabilities.out_dtypes[static_cast<int>(type)] = 1u << static_cast<int>(type);
  }
  for (const bool compiled : {true, false}) {
    claims.compiled = claims.far_tensors = compiled;
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
      INFO(name(type) << ", compiled: " << compiled);
      const auto change = [type](Call& call) {
        if (call.q.dtype == type) mislead(call, [](std::int64_t p) { return p == 23'456 ? p / 2 : p; });
      };
      CHECK(is_rejected(claims, change, {"ANG-02"}));
    }
  }
}

TEST_CASE("ANG-02, ANG-03: a right kernel passes, whatever way it takes positions", "[every position]") {
  for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    for (const Manner way : {Manner::offset, Manner::positions, Manner::in_place_with_positions}) {
      CHECK_FALSE(is_rejected(claims_of_way(way, source), [](Call&) {}, {"ANG-02", "ANG-03", "ANG-04"}));
    }
  }
}

TEST_CASE("ANG-04: a rule that loses its effect far from the original length is rejected at level quick",
          "[every position]") {
  const scaling::Setting setting{64, 64, 10000, 0};
  int turn = 0;
  for (const auto& [rule, base] : example_rules(setting, 4096)) {
    if (std::holds_alternative<scaling::None>(rule)) continue;
    for (const std::int64_t from : {std::int64_t{1} << 13, std::int64_t{1} << 18}) {
      const std::size_t kind = rule.index();
      INFO(kind_of(rule) << " from " << from);
      Claims claims = claims_of_way(turn++ % 2 == 0 ? Manner::offset : Manner::positions, AngleSource::computed);
      claims.capabilities.scalings = ROPE_BIT(ROPE_SCALING_NONE) | ROPE_BIT(kind);
      claims.capabilities.features |= ROPE_BIT(ROPE_FEATURE_ATTENTION_FACTOR);
      const auto change = [from](Call& call) {
        if (largest_of(call) >= from) call.scaling = scaling::None{};
      };
      CHECK(is_rejected(claims, change, {"ANG-04"}));
    }
  }
}

}  // namespace
}  // namespace rope
