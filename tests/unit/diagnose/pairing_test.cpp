// Diagnoses of pairs, heads and results that are put together wrongly.
#include "tests/unit/diagnose/loops.hpp"

using namespace rope;
using namespace rope::test;

namespace {

Fake turning_rows(std::function<void(const RowToTurn&)> turn_row) {
  Loops loops;
  loops.turn_row = std::move(turn_row);
  return loops.kernel();
}

const std::vector<std::string> heads{"ROT-01", "SHP-05"};

}  // namespace

TEST_CASE("Pairs that are turned wrongly are named") {
  expect("the inverse rotation of the rest", turning_rows([](const RowToTurn& row) {
           RowToTurn wrong = row;
           for (std::size_t p = row.half() / 4 * 4; p < row.half(); ++p) wrong.sin[p] = -wrong.sin[p];
           wrong.turn_all();
         }),
         {"the inverse rotation: sin is negated", "only pairs left over from blocks of 4", {}, {"ROT-01", "SHP-04"}});
  expect("the sign goes by the feature's number", turning_rows([](const RowToTurn& row) {
           const std::vector<float> x(row.in, row.in + 2 * row.half());
           for (std::size_t j = 0; j < x.size(); ++j) {
             const std::size_t pair = j % row.half(), partner = j < row.half() ? j + row.half() : pair;
             const double sign = j % 2 == 0 ? -1 : 1;
             row.out[j] = static_cast<float>(x[j] * row.cos[pair] + sign * x[partner] * row.sin[pair]);
           }
         }),
         {"half_split pairs: the sign of sin goes by the feature's number, minus for even and plus for odd ones"});
  expect("a result that is read again too early", turning_rows([](const RowToTurn& row) {
           for (std::size_t p = 0; p < row.half(); ++p) {
             if (p < row.half() / 8 * 8) {
               row.turn(p, p + row.half(), p);
             } else {
               row.out[p] = static_cast<float>(row.in[p] * row.cos[p] - row.in[p + row.half()] * row.sin[p]);
               row.out[p + row.half()] =
                   static_cast<float>(row.in[p + row.half()] * row.cos[p] + row.in[p] * row.sin[p]);
             }
           }
         }),
         {"the second result is made from the first one that was just written",
          "only pairs left over from blocks of 8, in place",
          true,
          {"ROT-01", "MEM-04"}});
}

TEST_CASE("Features that follow the axes of the other pairing's pairs are named") {
  expect("interleaved", with_results([](const Call& before, Call& after) {
           const bool plain =
               before.source == AngleSource::computed && std::holds_alternative<scaling::None>(before.scaling);
           if (!plain || !before.axis || before.pairing == Pairing::half_split ||
               before.direction == Direction::backward) {
             return;
           }
           const int half = static_cast<int>(before.rotary_dim) / 2;
           const auto turn = [&](const Tensor& in, Tensor& out) {
             for_each_row(in, [&](const RowIndex& row, const std::byte*) {
               const std::vector<std::int64_t> at = token_position(before, row.batch, row.seq);
               for (int f = 0; f < 2 * half; ++f) {
                 const auto axis = static_cast<std::size_t>(integer_at(*before.axis, f % half));
                 const double angle =
                     static_cast<double>(at[axis]) * std::pow(before.base, -2.0 * (f / 2) / before.rotary_dim);
                 const double across = f % 2 == 0 ? -value_at(in, row, f + 1) : value_at(in, row, f - 1);
                 store(out.dtype, row_data(out, row) + f * feature_step(out),
                       before.attention_factor * (value_at(in, row, f) * std::cos(angle) + across * std::sin(angle)));
               }
             });
           };
           turn(before.q, q_of(after));
           if (before.k) turn(*before.k, k_of(after));
         }),
         {"each feature follows the axis of the pair that it would belong to in the other pairing, half_split or "
          "interleaved",
          {},
          {},
          {"ROT-01", "ANG-07"}});
}

TEST_CASE("A sign that is wrong only backward is told by what backward should compute") {
  Fake subject = with_results([](const Call& before, Call& after) {
    if (before.direction != Direction::backward || before.source != AngleSource::computed) return;
    Call forward = before;
    forward.direction = Direction::forward;
    REQUIRE(computed(forward).status == ROPE_OK);
    const auto mix = [&](Tensor& to, const Tensor& from) {
      for_each_row(to, [&](const RowIndex& row, std::byte* data) {
        for (std::int64_t f = 0; f < before.rotary_dim; ++f) {
          const bool is_second = before.pairing == Pairing::interleaved ? f % 2 == 1 : f >= before.rotary_dim / 2;
          if (is_second) store(to.dtype, data + f * feature_step(to), value_at(from, row, f));
        }
      });
    };
    mix(q_of(after), forward.q_result());
    if (after.k) mix(k_of(after), forward.k_result());
  });
  const Candidate first = first_of(diagnosed(subject, {"ROT-01", "BWD-01"}));
  CHECK(first.sentence ==
        "backward (a, b) becomes (a cos + b sin, b cos + a sin), but should become (a cos + b sin, b cos - a sin)");
  CHECK(first.bug_class == BugClass::backward);
}

TEST_CASE("Heads that are taken for others, or left out, are named") {
  Loops repeated;
  repeated.head_read = [](const Call& call, bool key, std::int64_t head) {
    return key ? head * call.k->shape[2] / call.q.shape[2] : head;
  };
  expect("the first of a repeated k", repeated.kernel(),
         {"k is repeated to q's heads, each head in a row, and the first of these are taken for k's heads",
          "",
          {},
          heads});
  expect("k's heads in the last tile of q", leaving_out([](const ResultElement& e) {
           const std::int64_t of_q = e.call.q.shape[2];
           return e.key && of_q + e.row.head < (of_q + 3) / 4 * 4;
         }),
         {"heads come in tiles of 4, q's and then k's: k's heads in the last tile of q are not written"});
  expect("k's heads behind its own last tile", altered([](const ResultElement& e) {
           const bool is_left = e.key && e.call.q.shape[2] % 4 == 0 && e.row.head >= e.heads() / 4 * 4;
           return is_left ? e.x : e.y;
         }),
         {"heads come in tiles of 4: where q has whole tiles only, k's heads behind its own last whole tile are not "
          "rotated",
          {},
          {},
          heads});
  expect("the last of three left over",
         altered([](const ResultElement& e) { return e.row.head == e.heads() - 1 && e.heads() % 4 == 3 ? e.x : e.y; }),
         {"the output is the input, unrotated",
          "only heads left over from blocks of 2, number of heads modulo 4 is 3",
          {},
          heads});
}

TEST_CASE("A number of elements from which on a kernel works in shares is named") {
  Fake subject = altered([](const ResultElement& e) {
    const std::int64_t of_batch = e.call.q.shape[1], tokens = e.call.q.shape[0] * of_batch;
    const bool is_left =
        tokens * e.call.q.shape[2] * e.call.q.shape[3] >= 2048 && e.row.batch * of_batch + e.row.seq >= tokens / 4 * 4;
    return is_left ? e.x : e.y;
  });
  const auto found = diagnosed(subject, {"ROT-01", "SHP-01", "SHP-08"});
  CHECK(first_of(found).sentence == "the output is the input, unrotated");
  CHECK_THAT(first_of(found).condition, Catch::Contains("tokens of all batches in no whole block of 4"));
  CHECK_THAT(first_of(found).condition, Catch::Contains("number of elements of q 2"));
}
