// Diagnoses of mistakes with indices: rests of vectors, bit masks, narrow types, buffers that are too short.
#include <array>
#include <cmath>
#include <cstdint>

#include "tests/unit/diagnose/loops.hpp"

using namespace rope;
using namespace rope::test;

TEST_CASE("A loop over the rest that forms other pairs is found with the size of the vectors") {
  Loops loops;
  loops.turn_row = [](const RowToTurn& row) {
    const std::size_t whole = row.half() / 16 * 16;
    for (std::size_t p = 0; p < whole; ++p) row.turn(p, p + row.half(), p);
    for (std::size_t p = whole; p < row.half(); ++p) row.turn(2 * p, 2 * p + 1, p);
  };
  CHECK(said_of(loops) ==
        "pairs left over from vectors of 16 are formed by the other pairing: half_split for interleaved, or interleaved "
        "for half_split");
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
  CHECK(said_of(loops) == "in pairs from 32 on, the second result is made from the first one that was just written");
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
  Claims claims = all_claims();
  claims.far_tensors = claims.packed_tensors = false;
  Fake subject(claims, [](Call& call) {
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
