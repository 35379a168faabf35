// Diagnoses of rows that a launch leaves undone, and of tokens that get another token's position.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "tests/unit/diagnose/subjects.hpp"
#include "tests/unit/places.hpp"
#include "tools/worker/client/library_subject.hpp"

using namespace rope;
using namespace rope::test;

TEST_CASE("Rows left over from blocks are found with the size of the block") {
  for (std::int64_t block : {4, 16}) {
    Fake whole = with_modified_call([](Call&) {});
    Fake subject(whole.claims(), [&](Call& call) {
      const std::array<std::optional<Tensor>, 2> before{call.q_result(),
                                                        call.k ? std::optional(call.k_result()) : std::nullopt};
      const Reply reply = whole.apply(call);
      for (const bool key : {false, true}) {
        if (!before[key]) continue;
        Tensor& after = call.in_place ? (key ? *call.k : call.q) : (key ? *call.k_out : *call.q_out);
        const std::int64_t rows = after.shape[0] * after.shape[1] * after.shape[2];
        const std::int64_t started = std::max<std::int64_t>(rows / block, 1) * block;
        std::int64_t row = 0;
        for_each_row(after, [&](const RowIndex& at, std::byte* data) {
          if (row++ < started) return;
          const auto size = static_cast<std::int64_t>(size_of(after.dtype));
          const std::byte* old = before[key]->bytes.data() + (before[key]->origin + row_offset(after, at)) * size;
          for (std::int64_t f = 0; f < after.shape[3]; ++f) {
            std::memcpy(data + f * after.strides[3] * size, old + f * after.strides[3] * size,
                        static_cast<std::size_t>(size));
          }
        });
      }
      return reply;
    });
    const auto found = diagnosed(subject);
    CHECK(first_of(found).bug_class == BugClass::launch_limits);
    CHECK(with_condition(found) ==
          fmt::format("the output is never written, only rows (batch, token and head) left over from blocks of {}",
                      block));
  }
}

namespace {

TEST_CASE("A launch that fails for many tokens is found, though no value shows it") {
  Fake subject(narrow_claims(), [](Call& call) {
    return call.q.shape[1] > 65535 ? Reply{ReplyKind::done, ROPE_FAILED, "", 0} : computed(call);
  });
  const auto found = diagnosed(subject, {"SHP-01"});
  CHECK(first_of(found).bug_class == BugClass::launch_limits);
  CHECK_THAT(first_of(found).sentence, Catch::StartsWith("calls beyond a limit of the launch are refused"));
}

}  // namespace

TEST_CASE("Tokens that a block of 64 leaves unchanged are found") {
  Fake subject = altered([](const ResultElement& e) {
    const std::int64_t tokens = e.call.q.shape[1];
    return tokens > 64 && e.row.seq >= tokens / 64 * 64 ? e.x : e.y;
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).bug_class == BugClass::launch_limits);
  CHECK(with_condition(found) == "the output is the input, unrotated, only tokens left over from blocks of 64");
}

TEST_CASE("A rest that is left only from so many tokens of all batches on is found with their number") {
  Fake subject = altered([](const ResultElement& e) {
    const std::int64_t of_batch = e.call.q.shape[1], tokens = e.call.q.shape[0] * of_batch;
    return tokens >= 48 && e.row.batch * of_batch + e.row.seq >= tokens / 4 * 4 ? e.x : e.y;
  });
  const auto found = diagnosed(subject, {"ROT-01", "SHP-08"});
  CHECK(first_of(found).sentence == "the output is the input, unrotated");
  CHECK_THAT(first_of(found).condition, Catch::Contains("number of tokens of all batches"));
  CHECK_THAT(first_of(found).condition, Catch::Contains("tokens of all batches left over from blocks of 4"));
}

TEST_CASE("Zeros that are skipped are found") {
  Fake subject = altered([](const ResultElement& e) { return e.x == 0 ? 0 : e.y; });
  const auto found = diagnosed(subject, {"ROT-01", "ROT-07", "ANG-01"});
  CHECK(first_of(found).bug_class == BugClass::special_values);
  CHECK(first_of(found).sentence == "features whose input is 0 stay 0");
}

TEST_CASE("An error only in inputs of unusual size is of special values, though another cause explains it") {
  // Only in bf16 does rounding inputs to f16 explain every row of a kernel that takes subnormal inputs for zeros.
  const auto flushed = open_library(build_folder() / "mutants.so", "SPC-FLUSHED-INPUTS");
  Claims claims = flushed->claims();
  claims.far_tensors = claims.packed_tensors = false;
  for (const DType dtype : {DType::f64, DType::f32, DType::f16}) {
    claims.capabilities.out_dtypes[static_cast<std::size_t>(dtype)] = 0;
  }
  Fake subject(claims, [&](Call& call) { return flushed->apply(call); });
  const auto found = diagnosed(subject, {"ROT-01", "SPC-04"});
  CHECK(first_of(found).bug_class == BugClass::special_values);
}

TEST_CASE("Numbers that no input holds are of the memory between the rows") {
  Fake whole = with_modified_call([](Call&) {});
  Fake subject(whole.claims(), [&](Call& call) {
    const Reply reply = whole.apply(call);
    if (call.in_place || call.q.strides[2] == call.q.shape[3]) return reply;
    for_each_row(*call.q_out, [&](const RowIndex& row, std::byte* data) {
      std::byte* second = data + call.q_out->strides[3] * static_cast<std::int64_t>(size_of(call.q_out->dtype));
      store(call.q_out->dtype, second, -6328.7 - static_cast<double>(row.seq * row.seq) * 0.37);
    });
    return reply;
  });
  CHECK(first_of(diagnosed(subject, {"MEM-03"})).bug_class == BugClass::strides_memory_race);
}

TEST_CASE("Elements never written, in no known order, are told from wrong results") {
  Claims claims = all_claims();
  claims.far_tensors = claims.packed_tensors = false;
  claims.capabilities.features &= ~ROPE_BIT(ROPE_FEATURE_IN_PLACE);
  Fake subject(claims, [](Call& call) {
    const Tensor before = *call.q_out;
    KernelSubject half(half_split_kernel()), inter(interleaved_kernel());
    const Reply reply = (call.pairing == Pairing::half_split ? half : inter).apply(call);
    const std::size_t size = size_of(before.dtype);
    for (std::size_t i = 0; i < before.bytes.size() / size; ++i) {
      if (i * i % 11 == 5) std::memcpy(call.q_out->bytes.data() + i * size, before.bytes.data() + i * size, size);
    }
    return reply;
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).bug_class == BugClass::launch_limits);
  CHECK(first_of(found).sentence == "some elements are never written: no thread or block handles them");
}

TEST_CASE("Chunks whose positions continue from the first are found") {
  Fake subject = with_modified_call([](Call& call) {
    const std::int64_t tokens = call.q.shape[1];
    if (!call.positions || call.axes > 1 || tokens % 2 != 0 || tokens < 4) return;
    Tensor& positions = *call.positions;
    const auto size = static_cast<std::int64_t>(size_of(positions.dtype));
    for (std::int64_t b = 0; b < positions.shape[1]; ++b) {
      const auto at = [&](std::int64_t s) {
        return positions.data() + (b * positions.strides[1] + s * positions.strides[2]) * size;
      };
      const auto read = [&](std::int64_t s) {
        std::int64_t value = 0;  // little-endian, and not negative
        std::memcpy(&value, at(s), static_cast<std::size_t>(size));
        return value;
      };
      // Beyond the sequence the tables may have no row.
      if (read(tokens / 2 - 1) + tokens - tokens / 2 >= call.sequence_length) continue;
      for (std::int64_t s = tokens / 2; s < tokens; ++s) {
        const std::int64_t value = read(tokens / 2 - 1) + s - tokens / 2 + 1;
        std::memcpy(at(s), &value, static_cast<std::size_t>(size));
      }
    }
  });
  const auto found = diagnosed(subject, {"ROT-01", "POS-02"});
  CHECK(first_of(found).bug_class == BugClass::varlen_packing_cp);
  CHECK(first_of(found).sentence ==
        "the tokens come in 2 chunks: the later ones get positions counted on from the first chunk");
}

TEST_CASE("A limited buffer for given positions is found with its size") {
  Fake subject = with_modified_call([](Call& call) {
    if (!call.positions) return;
    Tensor& p = *call.positions;
    const auto size = static_cast<std::int64_t>(size_of(p.dtype));
    for (std::int64_t a = 0; a < p.shape[0]; ++a) {
      for (std::int64_t b = 0; b < p.shape[1]; ++b) {
        for (std::int64_t s = 8; s < p.shape[2]; ++s) {
          const std::int64_t row = a * p.strides[0] + b * p.strides[1];
          std::memcpy(p.data() + (row + s * p.strides[2]) * size, p.data() + (row + s % 8 * p.strides[2]) * size,
                      static_cast<std::size_t>(size));
        }
      }
    }
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).bug_class == BugClass::position_offset);
  CHECK(first_of(found).sentence == "tokens from 8 on get the given positions of tokens 0, 1, .. again");
}

TEST_CASE("An offset that only the first tokens get is found") {
  Fake subject = with_modified_call([](Call& call) {
    if (call.positions) return;
    const std::int64_t tokens = call.q.shape[1];
    call.positions = Tensor::contiguous(DType::i64, {call.axes, 1, tokens});
    call.positions->strides[1] = 0;
    for (std::int64_t i = 0; i < call.axes * tokens; ++i) {
      const std::int64_t s = i % tokens, position = s < 8 ? call.position_offset + s : s;
      std::memcpy(call.positions->data() + i * 8, &position, sizeof position);
    }
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).bug_class == BugClass::position_offset);
  CHECK(with_condition(found) == "the position is the index of the token, whatever the call says of positions, "
                                "only token 8 or more, positions from an offset");
}
