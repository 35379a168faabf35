#include "tools/judge/case/rearrange.hpp"

#include <catch2/catch.hpp>

#include "impls/builtin.hpp"
#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/judge/run/examiner.hpp"
#include "tools/judge/run/kernel_subject.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

Case batched() {
  Case c;
  c.batch = 3;
  c.spec.head_dim = c.spec.rotary_dim = 64;
  c.seq = 4;
  c.heads = 2;
  c.key_heads = 3;
  c.form = PositionForm::per_batch;
  c.pattern = PositionPattern::scattered;
  c.start = 500;
  return c;
}

TEST_CASE("reversing twice restores the call", "[rearrange]") {
  for (Layout layout : {Layout::contiguous, Layout::strided}) {
    Case c = batched();
    c.layout = layout;
    Oracles oracles;
    const Call call = build_call(c, oracles);
    const Call other = reversed(call);
    CHECK(other.q.bytes != call.q.bytes);
    CHECK(other.k->bytes != call.k->bytes);
    CHECK(other.positions->bytes != call.positions->bytes);
    const Call again = reversed(other);
    CHECK(again.q.bytes == call.q.bytes);
    CHECK(again.k->bytes == call.k->bytes);
    CHECK(again.positions->bytes == call.positions->bytes);
  }
}

TEST_CASE("tokens keep their order if nothing gives their positions", "[rearrange]") {
  Case c = batched();
  c.form = PositionForm::offset;
  c.pattern = PositionPattern::consecutive;
  Oracles oracles;
  const Call call = build_call(c, oracles);
  CHECK(reversed(RowIndex{0, 1, 0}, call, false).seq == 1);
  CHECK(reversed(RowIndex{0, 1, 0}, call, true).head == 2);
}

TEST_CASE("sequences take their starts along, unless they are packed", "[rearrange]") {
  Case c = batched();
  c.pattern = PositionPattern::consecutive;
  c.form = PositionForm::seqlen_offsets;
  Oracles oracles;
  const Call call = build_call(c, oracles);
  const Call other = reversed(call);
  for (std::int64_t batch = 0; batch < c.batch; ++batch) {
    CHECK(token_position(other, c.batch - 1 - batch, 1) == token_position(call, batch, 1));
    CHECK(token_position(one_batch(c, call, batch, oracles), 0, 1) == token_position(call, batch, 1));
  }
  c.form = PositionForm::cu_seqlens_and_offsets;
  c.batch = 1;
  c.sequences = 2;
  const Call packed = build_call(c, oracles);
  CHECK(token_position(reversed(packed), 0, 1) == token_position(packed, 0, 1));
}

TEST_CASE("a batch by itself has the rows, positions and tables that it had among others", "[rearrange]") {
  KernelSubject subject(half_split_kernel());
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  scaling::Dynamic rule;  // follows the longest sequence, which may be in another batch
  rule.factor = 4;
  rule.original_max_position_embeddings = 512;
  for (AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    Case c = batched();
    c.source = source;
    c.pattern = PositionPattern::consecutive;
    c.spec.scaling = rule;
    const Trial together = examiner.run(c);
    REQUIRE(together.ok());
    for (std::int64_t batch : {0, 1, 2}) {
      const Trial alone = examiner.run(one_batch(c, examiner.build(c), batch, examiner.oracles()));
      REQUIRE(alone.ok());
      Finding finding;
      for_each_row(alone.q, [&](const RowIndex& row, const std::byte*) {
        same_row(finding, "q", together.call.q_result(), {batch, row.seq, row.head}, alone.call.q_result(), row);
      });
      CHECK(finding.passed());
      CHECK(finding.compared == 4 * 2 * 64);
    }
  }
}

}  // namespace
}  // namespace rope
