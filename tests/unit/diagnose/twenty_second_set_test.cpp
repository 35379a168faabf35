// Mistakes of kernels of the twenty-second blind set, which the diagnosis called otherwise.
#include <cmath>
#include <numbers>

#include "tests/unit/diagnose/loops.hpp"
#include "tools/diagnose/literal.hpp"

using namespace rope;
using namespace rope::test;

namespace {

// A kernel with all claims that leaves some rows of each output as they are in the input.
Fake leaving(const std::function<bool(const Call&, bool key, const RowIndex&)>& left) {
  return altered([left](const ResultElement& e) { return left(e.call, e.key, e.row) ? e.x : e.y; });
}

}  // namespace

TEST_CASE("Positions that wrap at 65536 are named for a kernel that has only tables") {
  Claims claims = all_claims();
  claims.capabilities.angle_sources = ROPE_BIT(ROPE_TABLES);
  claims.capabilities.max_position = 131071;
  claims.far_tensors = claims.packed_tensors = false;
  Fake subject(claims, [](Call& call) {
    Call taken = call;
    if (!call.positions && call.position_offset >= 65536) taken.position_offset -= 65536;
    const Reply reply = computed(taken);
    call.q = taken.q;
    call.k = taken.k;
    call.q_out = taken.q_out;
    call.k_out = taken.k_out;
    return reply;
  });
  CHECK(first_of(diagnosed(subject, {"ANG-02", "ANG-03"})).sentence == "positions from 65536 on start again at 0");
}

TEST_CASE("A number of elements from which on a kernel works in shares is named") {
  Fake subject = leaving([](const Call& call, bool, const RowIndex& row) {
    const std::int64_t tokens = call.q.shape[0] * call.q.shape[1],
                       elements = tokens * call.q.shape[2] * call.q.shape[3];
    return elements >= 2048 && row.batch * call.q.shape[1] + row.seq >= tokens / 4 * 4;
  });
  const auto found = diagnosed(subject, {"ROT-01", "SHP-01", "SHP-08"});
  CHECK(first_of(found).sentence == "the output is the input, unrotated");
  CHECK_THAT(first_of(found).condition, Catch::Contains("tokens of all batches in no whole block of 4"));
  CHECK_THAT(first_of(found).condition, Catch::Contains("number of elements of q 2"));
}

TEST_CASE("Two limits are a range only if something between them fails") {
  using namespace diagnosis;
  const Condition from_64_to_128{{Quantity::head_dim, Comparison::at_least, 64},
                                 {Quantity::head_dim, Comparison::at_most, 128}};
  Observations seen;
  const auto add = [&](int head_dim, char wrong) {
    seen.push_back(std::make_unique<Observation>());
    seen.back()->c.spec.head_dim = head_dim;
    seen.back()->rows.push_back({});
    seen.back()->wrong.push_back(wrong);
  };
  add(64, 1);
  add(128, 1);
  add(96, 0);
  CHECK(has_gap(from_64_to_128, seen));
  CHECK_FALSE(has_gap({{Quantity::head_dim, Comparison::at_least, 64}}, seen));
  add(80, 1);
  CHECK_FALSE(has_gap(from_64_to_128, seen));
}

TEST_CASE("Rows of one token that have no common stride across batches are found with that") {
  Fake subject = leaving([](const Call& call, bool key, const RowIndex&) {
    const Tensor& out = key ? (call.in_place ? *call.k : *call.k_out) : (call.in_place ? call.q : *call.q_out);
    std::int64_t outer = -1;
    for (std::int64_t i = 0; i < 3; ++i) {
      if (out.shape[static_cast<std::size_t>(i)] < 2) continue;
      const auto at = static_cast<std::size_t>(i);
      if (outer >= 0 && out.strides[static_cast<std::size_t>(outer)] != out.shape[at] * out.strides[at]) return true;
      outer = i;
    }
    return false;
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "MEM-03"})).condition ==
        "only outputs whose heads of all tokens have no common stride");
}

TEST_CASE("Heads of k behind its own last tile are named where q's number of heads decides") {
  Fake subject = leaving([](const Call& call, bool key, const RowIndex& row) {
    return key && call.q.shape[2] % 4 == 0 && row.head >= call.k->shape[2] / 4 * 4;
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "SHP-05"})).sentence ==
        "heads come in tiles of 4: where q has whole tiles only, k's heads behind its own last whole tile are not "
        "rotated");
}

TEST_CASE("Approximations that do not reach through a quadrant are told by the angle") {
  Loops loops;
  loops.at = [](std::int64_t position, double of_pair) {
    constexpr double quarter = std::numbers::pi / 2;
    const double angle = static_cast<double>(position) * of_pair, rest = angle - std::floor(angle / quarter) * quarter;
    const double error = rest > quarter / 2 ? 1e-4 : 0;
    return Loops::Turn{std::cos(angle) + error, std::sin(angle) - error};
  };
  Fake subject = loops.kernel();
  const auto found = diagnosed(subject, {"ROT-01", "ANG-01"});
  CHECK_THAT(first_of(found).sentence,
             Catch::StartsWith("cos and sin are wrong where the angle is in the second half of its quadrant"));
  CHECK_FALSE(found->certain);
}
