// POS: which position each token is rotated by.
#include <cstring>

#include "tests/conformance/requirements.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

void offset_cases(CaseList& list) {
  if (!list.claims().has(ROPE_FEATURE_OFFSET)) return;  // a slice starts at an offset, even if the whole does not
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
    list.for_each_variant(64, [&](Case c) {
      shape(c);
      c.start = start;
      list.add(c);
    });
  }
  list.add_random(60, [&](Case& c) {
    shape(c);
    c.start %= 3000;
  });
}

// Tokens from .. from+count-1 of a whole call, in a separate call at their offset. With count 1 and a batch, the slice
// is decoding and the whole is prefill.
struct Slice {
  Case c;
  int from;
  Trial alone;
};

Slice run_slice(const Case& c, int from, int count, const Trial& whole, Examiner& examiner) {
  Case part = c;
  part.start = c.start + from;
  part.seq = count;
  // The tables of the whole call: an offset must not be counted from their end.
  if (c.source == AngleSource::tables) part.spare_rows += c.seq - from - count;
  Call call = examiner.build(part);
  for_each_row(call.q, [&](const RowIndex& row, const std::byte*) {
    copy_row(call.q, row, whole.q, {row.batch, row.seq + from, row.head});
  });
  return {part, from, examiner.run(std::move(call))};
}

// compare(finding, slice) for the last token and for two in the middle.
template <class Compare>
Finding each_slice(const Case& c, const Trial& whole, Examiner& examiner, Compare&& compare) {
  Finding finding;
  for (const auto& [from, count] : {std::pair{c.seq - 1, 1}, std::pair{1, 2}}) {
    if (from + count > c.seq) continue;
    const Slice slice = run_slice(c, from, count, whole, examiner);
    if (!slice.alone.ok()) return slice.alone.problem;
    compare(finding, slice);
  }
  return finding;
}

Finding sliced(const Case& c, Examiner& examiner) {
  const Trial whole = examiner.run(c);
  if (!whole.ok()) return whole.problem;
  Expectation expected = examiner.expectation(c, whole.call);
  const Finding finding = each_slice(c, whole, examiner, [&](Finding& found, const Slice& slice) {
    const Trial& alone = slice.alone;
    Expectation expected_alone = examiner.expectation(slice.c, alone.call);
    for_each_row(alone.q, [&](const RowIndex& row, const std::byte*) {
      const RelatedRow a = related_row(alone, alone.q, alone.call.q_result(), row, expected_alone);
      const RowIndex same{row.batch, row.seq + slice.from, row.head};
      relate_pairs(found, "q", row, expected, related_row(whole, whole.q, whole.call.q_result(), same, expected), a);
    });
  });
  return told(finding, "results", "the result of a slice at its offset", "the result of the whole sequence there");
}

Finding sliced_bit_for_bit(const Case& c, Examiner& examiner) {
  const Trial whole = examiner.run(c);
  if (!whole.ok()) return whole.problem;
  const Finding finding = each_slice(c, whole, examiner, [&](Finding& found, const Slice& slice) {
    for_each_row(slice.alone.q, [&](const RowIndex& row, const std::byte*) {
      same_row(found, "q", whole.call.q_result(), {row.batch, row.seq + slice.from, row.head},
               slice.alone.call.q_result(), row);
    });
  });
  return told(finding, "a call with the whole sequence and one with a slice of it, at its offset");
}

void decode_cases(CaseList& list) {
  list.for_each_variant(64, [&](Case c) {
    c.seq = 1;
    c.batch = 3;
    c.heads = 4;
    c.start = 1023;
    c.key_heads = list.claims().has(ROPE_FEATURE_GROUPED_HEADS) ? 2 : 0;
    list.add(c);
    c.in_place = true;
    list.add(c);
    c.layout = Layout::strided;
    list.add(c);
    c.layout = Layout::seq_last;
    list.add(c);
    const rope_capabilities& claims = list.claims().capabilities;
    c.layout = Layout::contiguous;
    c.in_place = false;
    c.start = std::min<std::int64_t>(1023, claims.max_position);
    list.give_positions(c);
    list.add(c);
    if (c.spec.rotary_dim < 6) return;
    c.spec.axes.sections = {c.spec.rotary_dim / 2 - 1, 1};
    list.add(c);
  });
  // As models decode: many kernels have a separate path for it.
  list.for_each_variant(128, [&](Case c) {
    if (!list.representative().is_output_type_of(c) || !list.claims().has(ROPE_FEATURE_KEY)) return;
    c.seq = 1;
    c.heads = 4;
    c.key_heads = list.claims().has(ROPE_FEATURE_GROUPED_HEADS) ? 1 : 4;
    c.start = 2047;
    list.add(c);
    c.in_place = true;
    list.add(c);
    if (c.source != AngleSource::tables) return;
    c.spare_rows = 2048;
    list.add(c);
  });
}

// If positions are given, the offset is ignored, whatever its value.
Finding as_given(const Case& c, Examiner& examiner) {
  Call call = examiner.build(c);
  // A simpler case may give none: then the offset counts.
  if (call.positions && examiner.subject().claims().has(ROPE_FEATURE_OFFSET)) call.position_offset = 3;
  return examiner.judge(c, examiner.run(std::move(call)));
}

void arbitrary_cases(CaseList& list) {
  std::size_t turn = 0;
  for (PositionPattern pattern :
       {PositionPattern::scattered, PositionPattern::repeated, PositionPattern::descending, PositionPattern::exchanged,
        PositionPattern::first_in_order, PositionPattern::last_apart, PositionPattern::restarting,
        PositionPattern::left_padded}) {
    ++turn;  // so that a way does not meet each pattern in the same form
    list.for_each_variant(64, [&](Case c) {
      c.form = PositionForm::shared;
      c.pattern = pattern;
      c.start = 700;
      c.seq = 7;
      Case narrow = c;
      narrow.position_dtype = DType::i32;
      Case halves = c;
      halves.position_dtype = list.claims().position_dtype();
      halves.seq = 8;  // a rank of context parallelism has two chunks
      list.add_in_turn(turn++, {c, narrow, halves});
      // As many rows as tokens: then the token's index is a row of the table, too.
      if (c.source != AngleSource::tables || pattern != PositionPattern::exchanged) return;
      c.start = 0;
      list.add(c);
    });
  }
  list.add_random(60, [](Case& c) { c.form = PositionForm::shared; });
}

void batch_cases(CaseList& list) {
  // S == B is among them: no other shape shows a batch's offset that is broadcast along the sequence.
  int way = 0;
  for (int seq : {1, 3, 5}) {
    ++way;  // shifts the turn: the ways are an even number, so each pairing would meet only one of both
    list.for_each_variant(64, [&](Case c) {
      c.form = PositionForm::per_batch;
      c.batch = 3;
      c.seq = seq;
      c.start = 200;
      list.add(c);
      c.pattern = PositionPattern::scattered;
      // Level quick takes the two types of positions in turn if a kernel claims both.
      const bool quick = list.level() == Level::quick;
      const std::uint32_t types = list.claims().capabilities.position_dtypes;
      const bool in_turn = quick && types == (ROPE_BIT(ROPE_I32) | ROPE_BIT(ROPE_I64));
      if (!in_turn || way % 2 == 0) list.add(c);
      c.position_dtype = DType::i32;
      if (!in_turn || way % 2 == 1) list.add(c);
      // Two batches that are equal wherever a kernel may look.
      constexpr PositionPattern alike[] = {PositionPattern::last_apart, PositionPattern::restarting,
                                           PositionPattern::left_padded};
      for (int i = 0; i < 3; ++i) {
        c.pattern = alike[i];
        if (!quick || way % 3 == i) list.add(c);
      }
      c.pattern = PositionPattern::recurring;
      if (!quick || seq == 3) list.add(c);
      ++way;
    });
  }
  list.add_random(60, [](Case& c) {
    c.form = PositionForm::per_batch;
    c.batch = std::max(c.batch, 2);
  });
}

// Fewer, as many and more batches than tokens; decoding of many sequences; a start that no narrower type holds.
void start_cases(CaseList& list) {
  int way = 0;
  list.for_each_variant(64, [&](Case c) {
    c.form = PositionForm::seqlen_offsets;
    c.start = 200;
    c.position_dtype = list.claims().position_dtype();
    const auto sized = [&](int batch, int seq) {
      Case one = c;
      one.batch = batch;
      one.seq = seq;
      return one;
    };
    Case narrow = sized(3, 2);
    narrow.position_dtype = DType::i32;
    Case whole = sized(2, 4);
    whole.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? whole.heads : 0;
    whole.in_place = true;
    list.add_in_turn(static_cast<std::size_t>(way++), {sized(3, 3), narrow, sized(2, 5), whole, sized(40, 1)});
    if (!list.representative().is_type_of(c) || !list.representative().is_output_type_of(c)) return;
    list.add(sized(3, 2));
    Case recurring = sized(3, 2);  // what is kept of the first sequence is right again for the third
    recurring.pattern = PositionPattern::recurring;
    list.add(recurring);
    list.add(narrow);
    list.add(sized(1, 5));
    list.add(sized(70, 1));
    if (c.source == AngleSource::tables) return;
    // In f64: in f32 the bound of angles at such positions is wider than a turn.
    Case far = sized(2, 2);
    far.start = (std::int64_t{1} << 31) + 9;
    far.dtype = far.out_dtype = DType::f64;
    list.add(far);
  });
  list.add_random(60, [](Case& c) {
    c.form = PositionForm::seqlen_offsets;
    c.pattern = PositionPattern::consecutive;
    c.sequences = 1;
  });
}

// One sequence, some of unlike lengths, empty ones, more than tokens, more than a block of threads.
void packed_cases(CaseList& list) {
  int way = 0;
  list.for_each_variant(64, [&](Case c) {
    c.batch = 1;
    const auto packed = [&](int sequences, int seq, bool with_starts) {
      Case one = c;
      one.form = with_starts ? PositionForm::cu_seqlens_and_offsets : PositionForm::cu_seqlens;
      one.sequences = sequences;
      one.seq = seq;
      one.start = 200;
      one.position_dtype = list.claims().position_dtype();
      return one;
    };
    Case both = packed(2, 6, false);
    both.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? both.heads : 0;
    both.in_place = true;
    const std::size_t turn = static_cast<std::size_t>(way++);
    list.add_in_turn(turn, {packed(3, 9, false), both, packed(5, 7, false), packed(2, 5, false)});
    list.add_in_turn(turn, {packed(3, 9, true), packed(6, 11, true), packed(2, 4, true)});
    if (!list.representative().is_type_of(c) || !list.representative().is_output_type_of(c)) return;
    for (const bool with_starts : {false, true}) {
      list.add(packed(1, 4, with_starts));
      list.add(packed(3, 8, with_starts));
      list.add(packed(6, 3, with_starts));
      list.add(packed(40, 200, with_starts));
    }
  });
  list.add_random(60, [&](Case& c) {
    c.form = list.claims().has(ROPE_FEATURE_SEQLEN_OFFSETS) && c.seq % 2 == 0 ? PositionForm::cu_seqlens_and_offsets
                                                                             : PositionForm::cu_seqlens;
    c.pattern = PositionPattern::consecutive;
    c.batch = 1;
    c.sequences = 1 + c.seq % 5;
    if (!list.claims().has(ROPE_FEATURE_OFFSET) && c.form == PositionForm::cu_seqlens) c.start = 0;
  });
}

}  // namespace

std::span<const Requirement> position_requirements() {
  static constexpr Requirement requirements[] = {
      {"POS-01",
       "Rotating a slice of the sequence at its offset MUST give that slice of the whole result, within the bound.",
       "POS-01, POS-13, SCALE-19", "differences within the bound: see POS-05", offset_cases, sliced, 0, nullptr,
       with_calls(3)},
      {"POS-02", "A single token per sequence (decoding) MUST be rotated by its own position, in every batch and head.",
       "POS-05, HEAD-05, POS-11", "positions beyond the tables", decode_cases, accuracy},
      {"POS-03", "Given positions, int32 or int64, MUST be used as they are: in any order, repeated or with gaps.",
       "POS-03, POS-07, POS-11", "negative positions", arbitrary_cases, as_given},
      {"POS-04", "If positions differ between batches, each batch MUST be rotated by its own positions.",
       "POS-05, VAR-01, TAB-07", "batches that differ only in some positions between the first and the last",
       batch_cases, accuracy},
      {"POS-05",
       "Rotating a slice of the sequence at its offset SHOULD give that slice of the whole result, bit for bit.",
       "POS-01, PREC", "which of the two is right", offset_cases, sliced_bit_for_bit,
       Demand::bitwise | Demand::batch_invariant, nullptr, with_calls(3)},
      {"POS-06", "With seqlen_offsets, the tokens of each batch MUST be counted from the batch's own start.",
       "POS-05, POS-07, VAR-01", "starts beyond the tables", start_cases, accuracy},
      {"POS-07", "With cu_seqlens, the tokens of each sequence MUST be counted from that sequence's own start.",
       "VAR-01, VAR-05", "borders that are wrong: cu_seqlens that falls, or ends before or after the tokens",
       packed_cases, accuracy},
  };
  return requirements;
}

}  // namespace rope
