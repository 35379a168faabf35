#include "tools/judge/run/horizon.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/judge/run/fake_subject.hpp"

namespace rope {
namespace {

std::vector<Horizon> horizons_of(const Claims& claims, std::function<Reply(Call&)> answer, Selection selection = {}) {
  test::Fake subject(claims, std::move(answer));
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  return measure_horizons(examiner, selection);
}

Horizon horizon_of(std::function<Reply(Call&)> answer) {
  const std::vector<Horizon> horizons = horizons_of(test::narrow_claims(), std::move(answer));
  REQUIRE(horizons.size() == 1);
  CHECK(horizons[0].dtype == DType::f32);
  CHECK(horizons[0].source == AngleSource::computed);
  CHECK(horizons[0].tolerance == 1e-3);
  return horizons[0];
}

// The right kernel at positions other than it was given, each token by itself.
template <class Change>
Reply at_positions(Call& call, Change change) {
  Call one = call;
  one.q = Tensor::contiguous(call.q.dtype, {1, 1, call.q.shape[2], call.q.shape[3]});
  one.q_out = one.q;
  const std::size_t row = static_cast<std::size_t>(call.q.shape[2] * call.q.shape[3]) * size_of(call.q.dtype);
  for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
    const std::size_t at = static_cast<std::size_t>(s) * row;
    std::copy_n(call.q.data() + at, row, one.q.data());
    one.position_offset = change(call.position_offset + s);
    if (const Reply reply = test::right(one); reply.status != ROPE_OK) return reply;
    std::copy_n(one.q_out->data(), row, call.q_out->data() + at);
  }
  return {};
}

TEST_CASE("horizon: a right kernel holds to the last position that it claims", "[horizon]") {
  const Horizon horizon = horizon_of(test::right);
  CHECK(horizon.position == 1 << 20);
  CHECK(horizon.tried == 1 << 20);
  // Each element is off by at most (2 + 0.61 sqrt(2)) u of its pair's norm. Hence a row by sqrt(2) times that, and a
  // difference of two scores by four times that.
  CHECK(horizon.worst < 4 * 1.42 * 2.87 * 0x1p-24);
}

TEST_CASE("horizon: positions rounded to bf16 end it where bf16 has no odd numbers", "[horizon]") {
  const auto in_bfloat16 = [](std::int64_t position) {
    return static_cast<std::int64_t>(bfloat16_to_double(double_to_bfloat16(static_cast<double>(position))));
  };
  const Horizon horizon = horizon_of([&](Call& call) { return at_positions(call, in_bfloat16); });
  CHECK(horizon.position == 256);  // 0 to 256 are exact; the range that ends at 512 is not
  CHECK(horizon.tried == 512);
  const Horizon unchanged =
      horizon_of([](Call& call) { return at_positions(call, [](std::int64_t position) { return position; }); });
  CHECK(unchanged.position == 1 << 20);
}

TEST_CASE("horizon: angles in f32 lose the distance at long positions", "[horizon]") {
  const Horizon horizon = horizon_of([](Call& call) { return test::in_float(call, test::direct); });
  // phi is off by up to 2 u |phi|. That is 1e-3 at 2^13 in the fastest of 64 pairs; the mean takes longer.
  CHECK(horizon.position >= 1 << 13);
  CHECK(horizon.position < 1 << 20);
  CHECK(horizon.tried > horizon.position);
  CHECK(horizon.worst <= horizon.tolerance);
}

TEST_CASE("horizon: wrong frequencies do not show, because still only the distance counts", "[horizon]") {
  const auto wrong_base = [](Call& call) {
    Call other = call;
    other.base *= 3;
    const Reply reply = test::right(other);
    call.q_out = other.q_out;
    return reply;
  };
  CHECK(horizon_of(wrong_base).position == 1 << 20);
}

TEST_CASE("horizon: a kernel that answers NaN or does not answer has none", "[horizon]") {
  const Horizon nan = horizon_of([](Call& call) {
    const Reply reply = test::right(call);
    const std::int64_t last = call.q_out->count() - 1;
    if (call.position_offset > 1000) store(DType::f32, call.q_out->data() + 4 * last, std::nan(""));
    return reply;
  });
  CHECK(nan.position == 1024);  // its first token stands at 769
  CHECK(nan.tried == 2048);
  const Horizon refused = horizon_of([](Call&) { return Reply{ReplyKind::done, ROPE_FAILED, "not today", 0}; });
  CHECK(refused.position == -1);
}

TEST_CASE("horizon: there is none if the angles are not the kernel's own, or nothing is claimed", "[horizon]") {
  Claims tables = test::narrow_claims();
  tables.capabilities.angle_sources = ROPE_BIT(ROPE_TABLES);
  tables.capabilities.table_dtypes = ROPE_BIT(ROPE_F32);
  tables.capabilities.half_tables = 1;
  CHECK(horizons_of(tables, test::right).empty());
  Claims near = test::narrow_claims();
  near.capabilities.max_position = 50;
  CHECK(horizons_of(near, test::right).empty());
  Selection other;
  other.dtypes = {DType::bf16};
  CHECK(horizons_of(test::narrow_claims(), test::right, other).empty());
}

TEST_CASE("horizon: it ends where the model that was asked for ends", "[horizon]") {
  Selection model;
  model.most_tokens = 1000;
  std::int64_t farthest = 0;
  const auto noted = [&](Call& call) {
    farthest = std::max(farthest, call.position_offset + call.q.shape[1] - 1);
    return test::right(call);
  };
  const std::vector<Horizon> horizons = horizons_of(test::narrow_claims(), noted, model);
  REQUIRE(horizons.size() == 1);
  CHECK(horizons[0].position == 999);
  CHECK(horizons[0].tried == 999);
  CHECK(farthest == 999);
  model.most_tokens = 63;  // fewer than the tokens of one call
  CHECK(horizons_of(test::narrow_claims(), test::right, model).empty());
}

TEST_CASE("horizon: storage of 16 bits is allowed its own rounding", "[horizon]") {
  CHECK(horizon_tolerance(DType::f64) == 1e-3);
  CHECK(horizon_tolerance(DType::f32) == 1e-3);
  CHECK(horizon_tolerance(DType::f16) == 4 * 0x1p-11);
  CHECK(horizon_tolerance(DType::bf16) == 4 * 0x1p-8);
}

}  // namespace
}  // namespace rope
