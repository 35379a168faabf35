// Diagnoses of mistakes with indices: rests of vectors, bit masks, narrow types, buffers that are too short.
#include <array>
#include <cmath>
#include <cstdint>

#include "tests/unit/diagnose/loops.hpp"
#include "tools/judge/case/build_call.hpp"

using namespace rope;
using namespace rope::test;

TEST_CASE("A loop over the rest that forms other pairs is found with the size of the vectors") {
  Loops loops;
  loops.turn_row = [](const RowToTurn& row) {
    const std::size_t whole = row.half() / 16 * 16;
    for (std::size_t p = 0; p < whole; ++p) row.turn(p, p + row.half(), p);
    for (std::size_t p = whole; p < row.half(); ++p) row.turn(2 * p, 2 * p + 1, p);
  };
  CHECK(
      said_of(loops) ==
      "pairs left over from vectors of 16 are formed by the other pairing: half_split for interleaved, or interleaved "
      "for half_split");
}

TEST_CASE("A loop over the rest that does not multiply by the attention factor is found with the size of the vectors") {
  const std::shared_ptr<Fake> whole(new Fake(with_modified_call([](Call&) {})));
  Fake subject(whole->claims(), [whole](Call& call) {
    const Reply reply = whole->apply(call);
    const int half = call.rotary_dim / 2;
    if (reply.status != ROPE_OK || call.q.dtype != DType::f32) return reply;
    for (const bool key : {false, true}) {
      if (key && !call.k) continue;
      Tensor& out = call.in_place ? (key ? *call.k : call.q) : (key ? *call.k_out : *call.q_out);
      for_each_row(out, [&](const RowIndex&, std::byte* data) {
        for (int f = 0; f < call.rotary_dim; ++f) {
          if ((call.pairing == Pairing::half_split ? f % half : f / 2) < half / 4 * 4) continue;
          std::byte* element = data + f * out.strides[3] * static_cast<std::int64_t>(size_of(out.dtype));
          store(out.dtype, element, load(out.dtype, element) / call.attention_factor);
        }
      });
    }
    return reply;
  });
  const std::optional<Diagnosis> found = diagnosed(subject, {"ROT-01", "BWD-03"});
  CHECK(with_condition(found) == "the attention factor is ignored, only pairs left over from blocks of 4, f32");
}

TEST_CASE("A mistake only in k explains the cases that fail, whose q is right") {
  Loops loops;
  loops.turn_row = [](const RowToTurn& row) {
    if (!row.key) return row.turn_all();
    RowToTurn other = row;
    for (double& s : other.sin) s = -s;
    other.turn_all();
  };
  Fake kernel = loops.kernel();
  const std::optional<Diagnosis> found = diagnosed(kernel, {"ROT-01", "SHP-05"});
  CHECK(first_of(found).condition == "only in k");
  CHECK(found->explained.size() == 2);
  CHECK(found->unexplained.empty());
}

TEST_CASE("A row's inputs that are saved only up to some pair are found with the pair") {
  Loops loops;
  loops.turn_row = [](const RowToTurn& row) {
    std::array<float, 32> saved{};
    for (std::size_t p = 0; p < std::min(saved.size(), row.half()); ++p) saved[p] = row.in[p];
    for (std::size_t p = 0; p < row.half(); ++p) {
      const float b = row.in[p + row.half()];
      row.out[p] = static_cast<float>(row.in[p] * row.cos[p] - b * row.sin[p]);
      const float a = p < saved.size() ? saved[p] : row.in[p];
      row.out[p + row.half()] = static_cast<float>(b * row.cos[p] + a * row.sin[p]);
    }
  };
  CHECK(with_condition(diagnosed(loops)) ==
        "the second result is made from the first one that was just written, only pair 32 or more, in place");
}

TEST_CASE("A remainder of heads that is a bit mask is found") {
  Loops loops;
  loops.head_read = [](const Call& call, bool key, std::int64_t head) {
    return head & ((key ? *call.k : call.q).shape[2] - 1);
  };
  CHECK(said_of(loops) == "head h is computed from head h & (heads - 1)");
  Loops groups;
  groups.turns = [](const Call& call, bool key, std::int64_t head) {
    if (!key || !call.in_place) return 1;
    const std::int64_t group = call.q.shape[2] / call.k->shape[2];
    int count = 0;
    for (std::int64_t q = head * group; q < (head + 1) * group; ++q) count += (q & (group - 1)) == 0 ? 1 : 0;
    return count;
  };
  CHECK(said_of(groups) ==
        "a head of k is rotated for each head h of q with (h & (group - 1)) == 0, where group is the number of q heads "
        "that share it");
}

TEST_CASE("A gap between batches that is not noticed is found") {
  Fake subject(plain_claims(), [](Call& call) {
    return readdressed(call, [](Tensor& t) {
      const std::int64_t token = t.shape[2] * t.shape[3];
      const bool heads_adjacent = t.shape[2] == 1 || t.strides[2] == t.shape[3];
      const bool tokens_adjacent = t.shape[1] == 1 || t.strides[1] == token;
      if (t.strides[3] == 1 && heads_adjacent && tokens_adjacent) t.strides[0] = t.shape[1] * token;
    });
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "MEM-03"})).sentence ==
        "a gap between batches is not noticed: what is contiguous in a batch is addressed as contiguous");
}

TEST_CASE("One stride of the other tensor is told from all of its strides") {
  Oracles oracles;
  const Call call =
      build_call(case_from_text("ROT-01:head_dim=4,batch=2,seq=3,heads=2,layout=reversed,output=contiguous"), oracles);
  const diagnosis::Params params = diagnosis::params_of(call);
  const diagnosis::RowContext last{call, params, false, 1, 2, 1};
  const auto index = [&](std::string_view sentence, bool output, int feature) {
    return that_says(sentence).change.index(last, output, feature, 0);
  };
  const auto at = [&](const Tensor& t) { return row_offset(t, {1, 2, 1}); };
  const Tensor &in = call.q, &out = *call.q_out;
  REQUIRE(in.strides[3] == -2);
  CHECK(index("the output is written with the stride between features of the input", true, 3) == at(out) - 6);
  CHECK(index("the output is written with the strides of the input", true, 3) == at(in) - 6);
  CHECK(index("the input is read with the stride between features of the output", false, 3) == at(in) + 3);
  CHECK(index("the output is written with the head stride of the input", true, 3) ==
        at(out) - out.strides[2] + in.strides[2] + 3);
  CHECK(index("the output is written with the token stride of the input", true, 0) ==
        at(out) + 2 * (in.strides[1] - out.strides[1]));
  CHECK(index("the output is written with the batch stride of the input", true, 0) ==
        at(out) - out.strides[0] + in.strides[0]);
}

TEST_CASE("An index of the exponent in eight bits is found, with and without a sign") {
  const auto with_exponent = [](double (*exponent)(int pair)) {
    Loops loops;
    loops.theta = [=](const Call& call, std::int64_t, int pair) {
      return std::pow(call.base, exponent(pair) / static_cast<double>(call.q.shape[3]));
    };
    return said_of(loops);
  };
  CHECK(with_exponent([](int pair) { return -1.0 * static_cast<std::int8_t>(2 * pair); }) ==
        "the index 2p of the exponent is kept in a sign and 7 bits");
  CHECK(with_exponent([](int pair) { return -1.0 * static_cast<std::uint8_t>(2 * pair); }) ==
        "the index 2p of the exponent is kept in 8 bits");
}
