// Random cases and claims for the tests of the suite itself.
#pragma once

#include "impls/claims.hpp"
#include "tests/unit/reference/random_spec.hpp"
#include "tools/judge/case/fields.hpp"
#include "tools/judge/run/kernel_subject.hpp"

namespace rope::test {

// Everything that the contract can express on a CPU, both pairings.
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

// Every field drawn by itself, whether or not the fields fit together. A field that the table of fields gives a list of
// words is drawn from all of them, unless it is set below.
inline Case any_case() {
  const auto floating = {DType::f64, DType::f32, DType::f16, DType::bf16};
  Case c;
  for (const Field& field : fields()) {
    if (!field.text.words.empty()) field.text.read(c, std::string(*rc::gen::elementOf(field.text.words)));
  }
  c.requirement = any_of<const char*>({"ROT-01", "POS-03"});
  c.spec = any_spec();
  c.spec.head_dim += c.spec.head_dim % 2;  // the contract has only even ones
  c.batch = *rc::gen::inRange(1, 5);
  c.seq = *rc::gen::inRange(1, 12);
  c.heads = *rc::gen::inRange(1, 6);
  c.sequences = *rc::gen::inRange(1, 6);
  c.key_heads = *rc::gen::inRange(0, 4);
  c.dtype = any_of(floating);
  c.out_dtype = any_of(floating);
  c.given = any_of(floating);
  c.unequal_halves = c.full_tables && coin();
  c.spare_rows = coin() ? 0 : *rc::gen::inRange(1, 40);
  c.position_dtype = any_of({DType::i32, DType::i64});
  c.start = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
  c.sequence_length = coin() ? 0 : *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 40);
  c.layout = any_of({Layout::contiguous, Layout::shifted, Layout::strided, Layout::key_strided, Layout::angles_strided,
                     Layout::cached, Layout::loose_strides, Layout::seq_last, Layout::reversed, Layout::distant_batches,
                     Layout::distant_tokens, Layout::distant_heads});
  c.fault = any_of({Fault::none, Fault::odd_rotary_dim, Fault::no_cos, Fault::unknown_source});
  c.tool = SanitizerTool::none;
  for (int i = *rc::gen::inRange(-3, 3); i > 0; --i) {
    c.before.push_back({any_of(floating), *rc::gen::inRange(1, 12), *rc::gen::inRange<std::int64_t>(0, 5000)});
  }
  c.seed = *rc::gen::inRange<std::uint64_t>(0, UINT64_MAX);
  return c;
}

}  // namespace rope::test
