// POS: which position each token is rotated by.
#include <cstring>

#include "tests/conformance/relations.hpp"
#include "tests/conformance/requirement.hpp"

namespace rope {
namespace {

Finding accuracy(const Case& c, Examiner& examiner) { return examiner.accuracy(c); }

void offset_cases(CaseList& list) {
  const auto shape = [](Case& c) {
    c.form = PositionForm::offset;
    c.pattern = PositionPattern::consecutive;
    c.seq = 6;
    c.key_heads = 0;
    c.in_place = false;
    c.layout = Layout::contiguous;
    c.sequence_length = 4000;
  };
  for (std::int64_t start : {0, 1, 250}) {
    list.for_each_way(64, [&](Case c) {
      if (!list.claims().has(ROPE_FEATURE_OFFSET)) return;
      shape(c);
      c.start = start;
      list.add(c);
    });
  }
  list.add_random(list.claims().has(ROPE_FEATURE_OFFSET) ? 60 : 0, [&](Case& c) {
    shape(c);
    c.start %= 3000;
  });
}

// Rope of tokens from .. from+count-1, called alone at their offset, against the same tokens within the whole call.
// With count 1 and a batch this is decoding, the whole is prefill.
Finding slice(const Case& c, Examiner& examiner) {
  const Trial whole = examiner.run(c);
  if (!whole.ok()) return whole.problem;
  Expectation expected = examiner.expectation(c, whole.call);
  const auto row_bytes = static_cast<std::size_t>(c.spec.head_dim) * size_of(c.dtype);
  Finding finding;
  for (const auto& [from, count] : {std::pair{c.seq - 1, 1}, std::pair{1, 2}}) {
    if (from + count > c.seq) continue;
    Case part = c;
    part.start = c.start + from;
    part.seq = count;
    Call call = examiner.build(part);
    for_each_row(call.q, [&, start = from](const RowIndex& row, std::byte* data) {
      std::memcpy(data, row_data(whole.q, {row.batch, row.seq + start, row.head}), row_bytes);
    });
    const Trial alone = examiner.run(std::move(call));
    if (!alone.ok()) return alone.problem;
    Expectation expected_alone = examiner.expectation(part, alone.call);
    for_each_row(alone.q, [&, start = from](const RowIndex& row, const std::byte*) {
      const RelatedRow a = related_row(alone, alone.q, alone.call.q_result(), row, expected_alone);
      const RowIndex same{row.batch, row.seq + start, row.head};
      const RelatedRow w = related_row(whole, whole.q, whole.call.q_result(), same, expected);
      for (std::size_t p = 0; p < expected.pairs(); ++p) {
        for (int feature : {expected.first(p), expected.second(p)}) {
          const auto j = static_cast<std::size_t>(feature);
          relate(finding, "q", row, feature, p, w.value[j], a.value[j], a.pair_bound[p] + w.pair_bound[p]);
        }
      }
    });
  }
  return finding;
}

void decode_cases(CaseList& list) {
  list.for_each_way(64, [&](Case c) {
    c.seq = 1;
    c.batch = 3;
    c.heads = 4;
    c.start = list.claims().has(ROPE_FEATURE_OFFSET) ? 1023 : 0;
    c.key_heads = list.claims().has(ROPE_FEATURE_GROUPED_HEADS) ? 2 : 0;
    list.add(c);
    c.in_place = true;
    list.add(c);
    c.layout = Layout::strided;
    list.add(c);
    c.layout = Layout::seq_last;
    list.add(c);
  });
}

void arbitrary_cases(CaseList& list) {
  for (PositionPattern pattern : {PositionPattern::scattered, PositionPattern::repeated, PositionPattern::descending}) {
    list.for_each_way(64, [&](Case c) {
      c.form = PositionForm::shared;
      c.pattern = pattern;
      c.seq = 7;
      c.start = 700;
      list.add(c);
      c.position_dtype = DType::i32;
      list.add(c);
    });
  }
  list.add_random(60, [](Case& c) { c.form = PositionForm::shared; });
}

void batch_cases(CaseList& list) {
  // S == B among them, where a batch's offset broadcast along the sequence goes unnoticed otherwise.
  for (int seq : {1, 3, 5}) {
    list.for_each_way(64, [&](Case c) {
      c.form = PositionForm::per_batch;
      c.batch = 3;
      c.seq = seq;
      c.start = 200;
      list.add(c);
      c.pattern = PositionPattern::scattered;
      list.add(c);
      c.position_dtype = DType::i32;
      list.add(c);
    });
  }
  list.add_random(60, [](Case& c) {
    c.form = PositionForm::per_batch;
    c.batch = std::max(c.batch, 2);
  });
}

constexpr Requirement requirements[] = {
    {"POS-01", "Rope of a slice of the sequence at its offset MUST equal that slice of the whole, within the bound.",
     "POS-01, POS-13, SCALE-19", "the bit-for-bit form of this is not demanded", offset_cases, slice},
    {"POS-02", "One token a sequence (decoding) MUST be rotated by its own position, in every batch and head.",
     "POS-05, HEAD-05, POS-11", "positions beyond the tables", decode_cases, accuracy},
    {"POS-03", "Positions in any order, repeated or with gaps, of int32 and int64, MUST be taken as given.",
     "POS-03, POS-07, POS-11", "negative positions", arbitrary_cases, accuracy},
    {"POS-04", "Where positions differ between batches, each batch MUST be rotated by its own.",
     "POS-05, VAR-01, TAB-07", "sequences packed into one row", batch_cases, accuracy},
};

}  // namespace

std::span<const Requirement> position_requirements() { return requirements; }

}  // namespace rope
