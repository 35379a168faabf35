// Mistakes of kernels of the twenty-third and the twenty-fourth blind set, which the diagnosis called otherwise.
#include <cmath>
#include <memory>
#include <numbers>

#include "tests/unit/diagnose/loops.hpp"

using namespace rope;
using namespace rope::test;

namespace {

std::string said_of_turns(std::function<Loops::Turn(double angle)> turn) {
  Loops loops;
  loops.at = [turn = std::move(turn)](std::int64_t position, double theta) {
    return turn(static_cast<double>(position) * theta);
  };
  return said_of(loops);
}

// A kernel that computes its angles, from the position that `of` has for each token.
Fake turning_by(const std::function<std::int64_t(const Call&, int axis, std::int64_t batch, std::int64_t seq)>& of) {
  const std::shared_ptr<Fake> subject(new Fake(misled([of](Call& call) {
    Tensor all = Tensor::contiguous(DType::i64, {call.axes, call.q.shape[0], call.q.shape[1]});
    std::int64_t index = 0;
    for (int axis = 0; axis < call.axes; ++axis) {
      for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
        for (std::int64_t s = 0; s < call.q.shape[1]; ++s) store_integer(all, index++, of(call, axis, b, s));
      }
    }
    call.positions = all;
    call.position_offset = 0;
    call.seqlen_offsets = call.cu_seqlens = std::nullopt;
  })));
  Claims claims = subject->claims();
  claims.capabilities.angle_sources = ROPE_BIT(ROPE_COMPUTED);
  return Fake(claims, [subject](Call& call) { return subject->apply(call); });
}

std::int64_t position_of(const Call& call, int axis, std::int64_t batch, std::int64_t seq) {
  return token_position(call, batch, seq)[static_cast<std::size_t>(axis)];
}

}  // namespace

TEST_CASE("A wrong sign in one of four quadrants is named, with the angles") {
  CHECK(said_of_turns([](double angle) {
          const auto quadrant = std::llrint(angle / (std::numbers::pi / 2)) & 3;
          return Loops::Turn{std::cos(angle), quadrant == 3 ? std::fabs(std::sin(angle)) : std::sin(angle)};
        }) == "sin has the wrong sign where an angle, less its whole turns, is from 1.25 to 1.75 pi");
  CHECK(said_of_turns([](double angle) {
          const double turns = angle / (2 * std::numbers::pi), place = turns - std::floor(turns);
          const bool is_second = place >= 0.25 && place < 0.5;
          return Loops::Turn{is_second ? std::sin(angle) : std::cos(angle),
                             is_second ? std::cos(angle) : std::sin(angle)};
        }) == "cos and sin are exchanged where an angle, less its whole turns, is from 0.5 to 1 pi");
}

TEST_CASE("A sine that is the root of what the cosine leaves is named, with the sign of the sine") {
  CHECK(said_of_turns([](double angle) {
          const auto c = static_cast<float>(std::cos(angle));
          return Loops::Turn{c, std::copysign(std::sqrt(std::max(0.0F, 1 - c * c)), std::sin(angle))};
        }) == "sin is computed in f32 as sqrt(1 - cos^2), which is inexact where it is small");
}

TEST_CASE("Quarter turns that are counted in an integer of 16 bits are named, whatever comes out") {
  CHECK_THAT(said_of_turns([](double angle) {
               if (angle < 32767.5 * std::numbers::pi / 2) return Loops::Turn{std::cos(angle), std::sin(angle)};
               return Loops::Turn{angle * angle, -angle};
             }),
             Catch::EndsWith("the number of quarter turns does not fit into a signed integer of 16 bits"));
}

TEST_CASE(
    "Tiles of the tokens of all batches whose positions count on into the next batch are named, with their size") {
  Fake subject = turning_by([](const Call& call, int axis, std::int64_t batch, std::int64_t seq) {
    const std::int64_t tokens = call.q.shape[1], number = batch * tokens + seq, first = number / 16 * 16;
    return position_of(call, axis, first / tokens, first % tokens) + number - first;
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).sentence == "in each tile of 16 tokens of all batches, positions count on into the next batch");
  CHECK(first_of(found).condition.empty());
}

TEST_CASE("A worker that looks up the batch of its first token only is named, with the number of workers") {
  Fake subject = turning_by([](const Call& call, int axis, std::int64_t batch, std::int64_t seq) {
    const std::int64_t tokens = call.q.shape[1], count = call.q.shape[0] * tokens, length = (count + 1) / 2;
    const std::int64_t first = (batch * tokens + seq) / length * length;
    return position_of(call, axis, count < 16 ? batch : first / tokens, seq);
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).sentence ==
        "the tokens of all batches come in 2 runs: all of one get the positions of the batch in which it begins");
  CHECK(first_of(found).condition == "only number of tokens of all batches 16 or more");
}

TEST_CASE("A tile that takes the batch of its first token for all its tokens is named, with its size") {
  Fake subject = turning_by([](const Call& call, int axis, std::int64_t batch, std::int64_t seq) {
    const std::int64_t tokens = call.q.shape[1], number = batch * tokens + seq;
    return position_of(call, axis, number / 8 * 8 / tokens, seq);
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).sentence ==
        "the tokens of all batches come in tiles of 8: all of one get the positions of the batch in which it begins");
  CHECK(first_of(found).condition.empty());
}

TEST_CASE("Signs of half_split pairs that go by the feature's number are named") {
  Loops loops;
  loops.turn_row = [](const RowToTurn& row) {
    const std::vector<float> x(row.in, row.in + 2 * row.half());
    for (std::size_t j = 0; j < x.size(); ++j) {
      const std::size_t pair = j % row.half(), partner = j < row.half() ? j + row.half() : pair;
      const double sign = j % 2 == 0 ? -1 : 1;
      row.out[j] = static_cast<float>(x[j] * row.cos[pair] + sign * x[partner] * row.sin[pair]);
    }
  };
  CHECK(said_of(loops) ==
        "half_split pairs: the sign of sin goes by the feature's number, minus for even and plus for odd ones");
}
