// Single hypotheses, asked what they make of one row.
#include "tests/unit/diagnose/subjects.hpp"
#include "tools/judge/case/build_call.hpp"

using namespace rope;
using namespace rope::test;

namespace {

// A call of a case, as a hypothesis is asked about one of its rows.
struct Asked {
  explicit Asked(const char* text)
      : call(build_call(case_from_text(text), oracles)), params(diagnosis::params_of(call)) {}
  Asked(const Asked&) = delete;

  diagnosis::RowContext row(std::int64_t batch, std::int64_t seq, std::int64_t head = 0) const {
    return {call, params, false, batch, seq, head};
  }
  long double position(std::int64_t batch, std::int64_t seq) const {
    return static_cast<long double>(token_position(call, batch, seq)[0]);
  }

  Oracles oracles;
  Call call;
  diagnosis::Params params;
};

}  // namespace

TEST_CASE("Positions are rounded to the type of q, whichever it is") {
  const auto& h = that_says("positions are rounded to the type of q");
  const Asked half("ROT-01:head_dim=4,start=2049,dtype=f16,out_dtype=f16,source=computed");
  CHECK(h.change.position(half.row(0, 0), 0, 2049) == 2048);
  const Asked single("ROT-01:head_dim=4,start=2049,dtype=f32,source=computed");
  CHECK(h.change.position(single.row(0, 0), 0, 2049) == 2049);
}

TEST_CASE("Runs over all batches count on behind a border of batches that lies within them") {
  const auto& h = that_says(
      "the tokens of all batches come in 2 runs: positions count on from a run's first token into the next batch");
  const Asked even("ROT-01:head_dim=4,batch=2,seq=5,start=7");  // the second run begins with the second batch
  CHECK(h.change.position(even.row(1, 0), 0, 7) == 7);
  const Asked odd("ROT-01:head_dim=4,batch=3,seq=3,start=7");  // and here within it
  CHECK(h.change.position(odd.row(1, 0), 0, 7) == 7 + 3);
  CHECK(h.change.position(odd.row(1, 2), 0, 9) == 7 + 2);
}

TEST_CASE("Sequences that are counted without the empty ones have starts of earlier ones") {
  const auto& h = that_says(
      "empty sequences are not counted: a token behind one gets an earlier sequence's value of seqlen_offsets");
  const Asked packed("ROT-01:head_dim=4,seq=20,form=cu_seqlens_and_offsets,sequences=5");
  const auto border = [&](std::int64_t i) { return integer_at(*packed.call.cu_seqlens, i); };
  const auto start = [&](std::int64_t i) {
    return static_cast<long double>(integer_at(*packed.call.seqlen_offsets, i));
  };
  // Sequence 1 is empty. The first token of sequence 3 has two different borders before it.
  REQUIRE(border(1) == border(2));
  REQUIRE(border(2) < border(3));
  CHECK(h.change.position(packed.row(0, border(3)), 0, 0) == start(2));
  CHECK(h.change.position(packed.row(0, 0), 0, 0) == start(0));
}

TEST_CASE("A last block that goes beyond rotary_dim multiplies what it covers, and no more") {
  const Asked asked("ROT-01:head_dim=16,rotary_dim=6,attention_factor=0.5,source=computed");
  const auto& h = that_says(
      "the last block of 4 pairs goes beyond rotary_dim: features there are multiplied by the attention factor");
  CHECK(h.change.pass(asked.row(0, 0), 6, 3) == 1.5);
  CHECK(h.change.pass(asked.row(0, 0), 7, 3) == 1.5);
  CHECK(h.change.pass(asked.row(0, 0), 8, 3) == 3);
}

TEST_CASE("Pass-through features that are read with the output's strides are told from the rest of the row") {
  const Asked asked("ROT-01:head_dim=8,rotary_dim=4,batch=2,seq=3,layout=strided,output=contiguous");
  const auto& h = that_says("pass-through features are read from the input with the output's strides");
  const diagnosis::RowContext row = asked.row(1, 2, 1);
  CHECK(h.change.index(row, false, 3, 100) == 100);
  CHECK(h.change.index(row, true, 5, 100) == 100);
  CHECK(h.change.index(row, false, 5, 100) == row_offset(*asked.call.q_out, {1, 2, 1}) + 5);
}

TEST_CASE("An axis_stride that is made from the seq_stride leads to the next batch's positions") {
  const Asked asked("ROT-01:head_dim=8,axes=2:2,batch=2,seq=3,form=per_batch,start=5");
  const auto& h = that_says("the axis_stride of the positions is taken to be tokens * seq_stride");
  // Behind the three positions of axis 0 in batch 0 lie the positions of batch 1.
  CHECK(h.change.position(asked.row(0, 1), 1, 0) == asked.position(1, 1));
  CHECK(h.change.position(asked.row(0, 1), 0, 0) == asked.position(0, 1));
}

TEST_CASE("Rows in tiles have the position of the tile's first row") {
  const Asked asked("ROT-01:head_dim=8,batch=2,seq=2,heads=3,form=per_batch,start=5");
  const auto& h =
      that_says("rows (batch, token and head) come in tiles of 4: all of one get the position of its first row");
  // Rows 3, 4 and 5 are of token 1. The second tile begins with row 4, the third with row 8, of token 0 in batch 1.
  CHECK(h.change.position(asked.row(0, 1, 0), 0, 0) == asked.position(0, 0));
  CHECK(h.change.position(asked.row(0, 1, 2), 0, 0) == asked.position(0, 1));
  CHECK(h.change.position(asked.row(1, 0, 1), 0, 0) == asked.position(0, 1));
  CHECK(h.change.position(asked.row(1, 1, 2), 0, 0) == asked.position(1, 0));
}

TEST_CASE("Sines that are rolled by rotary_dim/2 belong to the pair only in half-split") {
  diagnosis::Row row{{}, {1, 2, 3, 4}, {}, false};
  diagnosis::Params params;
  params.rotary_dim = 4;
  that_says("backward takes the sine of the feature rotary_dim/2 further on, in both pairings")
      .change.direct(params, {}, row);
  CHECK(row.sin == std::vector<double>{-3, -4, -1, -2});
}

TEST_CASE("A read of the next position's row leaves the table only behind its last row") {
  const auto outside_at = [](const char* text) {
    const Asked asked(text);
    std::optional<OutsideAccess> outside;
    diagnosis::RowContext row{asked.call, asked.params, false, 0, 0, 0, &outside};
    that_says("the row of cos for the next position is read, too").change.beside(row);
    return outside ? outside->element : -1;
  };
  CHECK(outside_at("ROT-01:head_dim=4,seq=1,start=2") == 6);
  CHECK(outside_at("ROT-01:head_dim=4,seq=1,start=2,spare_rows=1") == -1);
}

TEST_CASE("A batch_stride of positions that is computed from the seq_stride leads elsewhere") {
  Asked asked("ROT-01:head_dim=4,batch=2,seq=3,form=shared");
  Tensor& p = *asked.call.positions = Tensor::contiguous(DType::i64, {16});
  p.shape = {1, 2, 3};
  p.strides = {16, 8, 2};
  for (std::int64_t i = 0; i < 16; ++i) store_integer(p, i, 100 + i);
  const auto& h = that_says("the batch_stride of the positions is taken to be tokens * seq_stride");
  CHECK(h.change.position(asked.row(1, 1), 0, 110) == 108);  // element (3 + 1) * 2
  CHECK(h.change.position(asked.row(0, 2), 0, 104) == 104);
}

TEST_CASE("A row index of k that is divided by the heads of q is counted over all batches") {
  const Asked asked("ROT-01:head_dim=4,batch=2,seq=3,heads=4,key_heads=2,start=10");
  const auto& all = diagnosis::all_hypotheses();
  const auto h = std::ranges::find_if(all, [](const diagnosis::Hypothesis& one) {
    return one.sentence.starts_with("in k, the row index counted over all batches is divided by");
  });
  REQUIRE(h != all.end());
  // Row (1, 2, 1) of k is row 11; 11 / 4 is token 2 of batch 0.
  CHECK(h->change.position({asked.call, asked.params, true, 1, 2, 1}, 0, 12) == 12);
  CHECK(h->change.position({asked.call, asked.params, true, 1, 0, 0}, 0, 10) == 11);
  CHECK(h->change.position(asked.row(1, 0), 0, 10) == 10);
}
