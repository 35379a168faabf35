// Mistakes of kernels of the twenty-first blind set, which the diagnosis called otherwise.
#include <cmath>
#include <cstring>
#include <map>

#include "reference/dtype.hpp"
#include "tests/unit/diagnose/subjects.hpp"

using namespace rope;
using namespace rope::test;

TEST_CASE("Tables that are taken for half width where rotary_dim is half of head_dim are found with that") {
  Fake subject = misled([](Call& call) {
    const bool is_full = call.source == AngleSource::tables && call.cos->shape[1] == call.rotary_dim;
    if (!is_full || call.pairing == Pairing::half_split || 2 * call.rotary_dim != call.q.shape[3]) return;
    const std::size_t size = size_of(call.cos->dtype);
    for (Tensor* table : {&*call.cos, &*call.sin}) {
      const Tensor given = *table;
      for (std::int64_t row = 0; row < table->shape[0]; ++row) {
        for (std::int64_t column = 0; column < call.rotary_dim; ++column) {
          const auto at = [&](std::int64_t c) { return static_cast<std::size_t>(row * table->strides[0] + c) * size; };
          std::memcpy(table->data() + at(column), given.data() + at(column / 2), size);
        }
      }
    }
  });
  const auto found = diagnosed(subject, {"ROT-01", "MEM-03"});
  CHECK(first_of(found).sentence == "full-width tables are read as if they had half width");
  CHECK(first_of(found).condition == "only rotary_dim half of head_dim, interleaved pairs");
}

TEST_CASE("Axes with the frequencies of ropes of their own are named") {
  Fake subject = misled([](Call& call) {
    const bool is_plain = call.source == AngleSource::computed && std::holds_alternative<scaling::None>(call.scaling);
    if (!is_plain || call.axes < 2 || !call.axis) return;
    const std::int64_t pairs = call.rotary_dim / 2;
    std::map<std::int64_t, int> of_axis, seen;
    for (std::int64_t p = 0; p < pairs; ++p) ++of_axis[integer_at(*call.axis, p)];
    call.source = AngleSource::frequencies;
    call.theta = Tensor::contiguous(DType::f64, {pairs});
    for (std::int64_t p = 0; p < pairs; ++p) {
      const std::int64_t axis = integer_at(*call.axis, p);
      const double theta = std::pow(call.base, -static_cast<double>(seen[axis]++) / of_axis[axis]);
      std::memcpy(call.theta->data() + p * 8, &theta, sizeof theta);
    }
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "ANG-07"})).sentence ==
        "each axis has the frequencies of a rope of its own: base^(-i/n) for the i-th of its n pairs");
}

TEST_CASE("Positions of the tokens left over from tiles are named, not of one length only") {
  Fake subject = misled([](Call& call) {
    if (call.positions || call.seqlen_offsets || call.cu_seqlens || call.axes > 1) return;
    const std::int64_t tokens = call.q.shape[1], left = tokens % 16;
    call.positions = Tensor::contiguous(DType::i64, {1, 1, tokens});
    call.positions->strides[1] = 0;
    for (std::int64_t s = 0; s < tokens; ++s) {
      const std::int64_t at = s < tokens - left ? s : s / 16 * left + s % 16;
      store_integer(*call.positions, s, call.position_offset + at);
    }
  });
  const auto found = diagnosed(subject, {"ROT-01", "SHP-01", "SHP-08"});
  CHECK(
      first_of(found).sentence ==
      "tokens left over from tiles of 16 are taken to begin at the number of tiles before them times their own number");
  CHECK(found->certain);
}
