// Random cases and claims for the tests of the suite itself.
#pragma once

#include "impls/claims.hpp"
#include "tests/conformance/case.hpp"
#include "tests/conformance/kernel_subject.hpp"
#include "tests/unit/reference/random_spec.hpp"

namespace rope::test {

// All that the contract can express on a CPU, both pairings.
inline Claims all_claims() {
  Claims claims = claims_of(everything_on_cpu(ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED)));
  claims.far_tensors = claims.packed_tensors = claims.compiled = true;
  return claims;
}

// Nothing: no dtype, no pairing, no source.
inline Claims no_claims() { return {}; }

template <class Enum>
Enum any_of(std::initializer_list<Enum> values) {
  return *rc::gen::elementOf(std::vector<Enum>(values));
}

// Every field drawn by itself, whether or not the fields go together.
inline Case any_case() {
  const auto floating = {DType::f64, DType::f32, DType::f16, DType::bf16};
  Case c;
  c.requirement = any_of<const char*>({"ROT-01", "POS-03"});
  c.spec = any_spec();
  c.spec.head_dim += c.spec.head_dim % 2;  // the contract knows even ones only
  c.batch = *rc::gen::inRange(1, 5);
  c.seq = *rc::gen::inRange(1, 12);
  c.heads = *rc::gen::inRange(1, 6);
  c.key_heads = *rc::gen::inRange(0, 4);
  c.dtype = any_of(floating);
  c.out_dtype = any_of(floating);
  c.source = any_of({AngleSource::tables, AngleSource::frequencies, AngleSource::computed});
  c.given = any_of(floating);
  c.full_tables = coin();
  c.unequal_halves = c.full_tables && coin();
  c.spare_rows = coin() ? 0 : *rc::gen::inRange(1, 40);
  c.form = any_of({PositionForm::offset, PositionForm::shared, PositionForm::per_batch});
  c.position_dtype = any_of({DType::i32, DType::i64});
  c.pattern = any_of({PositionPattern::consecutive, PositionPattern::repeated, PositionPattern::descending,
                      PositionPattern::exchanged, PositionPattern::first_in_order, PositionPattern::last_apart,
                      PositionPattern::restarting, PositionPattern::left_padded, PositionPattern::scattered});
  c.start = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
  c.sequence_length = coin() ? 0 : *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 40);
  c.direction = any_of({Direction::forward, Direction::backward});
  c.in_place = coin();
  c.layout = any_of({Layout::contiguous, Layout::shifted, Layout::strided, Layout::key_strided, Layout::angles_strided,
                     Layout::seq_last, Layout::reversed, Layout::distant_batches, Layout::distant_tokens,
                     Layout::distant_heads});
  c.output = any_of({OutputLayout::as_input, OutputLayout::contiguous, OutputLayout::strided, OutputLayout::key_strided,
                     OutputLayout::shifted});
  c.input = any_of({InputKind::spread, InputKind::unit, InputKind::lonely, InputKind::constant, InputKind::huge,
                    InputKind::subnormal, InputKind::zero});
  c.fault = any_of({Fault::none, Fault::odd_rotary_dim, Fault::no_cos, Fault::unknown_source});
  c.seed = *rc::gen::inRange<std::uint64_t>(0, UINT64_MAX);
  return c;
}

inline bool same(const Case& a, const Case& b) {
  const auto plain = [](const Case& c) {
    return std::tuple(c.requirement, c.batch, c.seq, c.heads, c.key_heads, c.dtype, c.out_dtype, c.source, c.given,
                      c.full_tables, c.unequal_halves, c.spare_rows, c.form, c.position_dtype, c.pattern, c.start,
                      c.sequence_length, c.direction, c.in_place, c.layout, c.output, c.input, c.seed, c.fault, c.tool,
                      c.golden);
  };
  return plain(a) == plain(b) && same(a.spec, b.spec);
}

}  // namespace rope::test
