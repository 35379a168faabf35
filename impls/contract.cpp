#include "impls/contract.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

namespace rope {
namespace {

template <class Enum>
constexpr std::int32_t number(Enum value) {
  return static_cast<std::int32_t>(value);
}

static_assert(number(DType::f64) == ROPE_F64 && number(DType::f32) == ROPE_F32 && number(DType::f16) == ROPE_F16);
static_assert(number(DType::bf16) == ROPE_BF16 && number(DType::i32) == ROPE_I32 && number(DType::i64) == ROPE_I64);
static_assert(number(Pairing::half_split) == ROPE_HALF_SPLIT && number(Pairing::interleaved) == ROPE_INTERLEAVED);

template <int kind, class Rule>
constexpr bool is_kind = std::is_same_v<std::variant_alternative_t<kind, Scaling>, Rule>;

static_assert(is_kind<ROPE_SCALING_NONE, scaling::None> && is_kind<ROPE_SCALING_LINEAR, scaling::Linear>);
static_assert(is_kind<ROPE_SCALING_NTK, scaling::Ntk> && is_kind<ROPE_SCALING_DYNAMIC, scaling::Dynamic>);
static_assert(is_kind<ROPE_SCALING_YARN, scaling::Yarn> && is_kind<ROPE_SCALING_LONGROPE, scaling::LongRope>);
static_assert(is_kind<ROPE_SCALING_LLAMA3, scaling::Llama3>);
static_assert(is_kind<ROPE_SCALING_PROPORTIONAL, scaling::Proportional>);
static_assert(is_kind<ROPE_SCALING_PIXEL, scaling::Pixel> && is_kind<ROPE_SCALING_CONSTANT, scaling::Constant>);
static_assert(std::variant_size_v<Scaling> == ROPE_SCALING_CONSTANT + 1);

scaling::Yarn yarn_of(const rope_scaling& c) {
  if ((c.yarn_truncate | c.yarn_clamp_pairs) >> 1 != 0)
    throw InputError("yarn_truncate and yarn_clamp_pairs are 0 or 1");
  scaling::Yarn rule;
  rule.factor = c.factor;
  rule.original_max_position_embeddings = c.original_max_position;
  rule.beta_fast = c.beta_fast;
  rule.beta_slow = c.beta_slow;
  rule.truncate = c.yarn_truncate == 1;
  rule.clamp = c.yarn_clamp_pairs == 1 ? scaling::Yarn::Clamp::pairs : scaling::Yarn::Clamp::rotary_dim;
  return rule;
}

// An absent list comes out empty, which the rule's check() then refuses.
std::vector<double> list(const double* values, int rotary_dim) {
  return values == nullptr ? std::vector<double>() : std::vector<double>(values, values + rotary_dim / 2);
}

void write(const scaling::None&, rope_scaling&) {}
void write(const scaling::Constant&, rope_scaling&) {}
void write(const scaling::Linear& rule, rope_scaling& c) { c.factor = rule.factor; }
void write(const scaling::Ntk& rule, rope_scaling& c) { c.factor = rule.factor; }
void write(const scaling::Pixel& rule, rope_scaling& c) { c.max_frequency = rule.max_frequency; }
void write(const scaling::Dynamic& rule, rope_scaling& c) {
  c.factor = rule.factor;
  c.original_max_position = rule.original_max_position_embeddings;
}
void write(const scaling::Yarn& rule, rope_scaling& c) {
  c.factor = rule.factor;
  c.original_max_position = rule.original_max_position_embeddings;
  c.beta_fast = rule.beta_fast;
  c.beta_slow = rule.beta_slow;
  c.yarn_truncate = rule.truncate ? 1 : 0;
  c.yarn_clamp_pairs = rule.clamp == scaling::Yarn::Clamp::pairs ? 1 : 0;
}
void write(const scaling::LongRope& rule, rope_scaling& c) {
  c.factor = rule.factor;
  c.original_max_position = rule.original_max_position_embeddings;
  c.short_factor = rule.short_factor.data();
  c.long_factor = rule.long_factor.data();
}
void write(const scaling::Llama3& rule, rope_scaling& c) {
  c.factor = rule.factor;
  c.original_max_position = rule.original_max_position_embeddings;
  c.low_freq_factor = rule.low_freq_factor;
  c.high_freq_factor = rule.high_freq_factor;
}
void write(const scaling::Proportional& rule, rope_scaling& c) {
  c.factor = rule.factor;
  c.proportion = rule.proportion;
}

}  // namespace

Scaling to_scaling(const rope_scaling& c, int rotary_dim) {
  const double original = c.original_max_position;
  switch (c.kind) {  // the empty braces are UnitLambda, the base of most rules
    case ROPE_SCALING_NONE: return scaling::None{};
    case ROPE_SCALING_LINEAR: return scaling::Linear{{}, c.factor};
    case ROPE_SCALING_NTK: return scaling::Ntk{{}, c.factor};
    case ROPE_SCALING_DYNAMIC: return scaling::Dynamic{{}, c.factor, original};
    case ROPE_SCALING_YARN: return yarn_of(c);
    case ROPE_SCALING_LONGROPE:
      return scaling::LongRope{c.factor, original, list(c.short_factor, rotary_dim), list(c.long_factor, rotary_dim)};
    case ROPE_SCALING_LLAMA3: return scaling::Llama3{{}, c.factor, c.low_freq_factor, c.high_freq_factor, original};
    case ROPE_SCALING_PROPORTIONAL: return scaling::Proportional{{}, c.factor, c.proportion};
    case ROPE_SCALING_PIXEL: return scaling::Pixel{{}, c.max_frequency};
    case ROPE_SCALING_CONSTANT: return scaling::Constant{};
  }
  throw InputError("scaling.kind is none of rope_scaling_kind");
}

rope_scaling to_c(const Scaling& rule) {
  rope_scaling c{};
  c.kind = static_cast<std::int32_t>(rule.index());
  std::visit([&](const auto& r) { write(r, c); }, rule);
  return c;
}

RopeSpec spec_of(const rope_call& call) {
  RopeSpec spec;
  spec.head_dim = static_cast<int>(call.q.shape[3]);
  spec.rotary_dim = call.rotary_dim;
  spec.pairing = static_cast<Pairing>(call.pairing);
  spec.base = call.base;
  spec.scaling = to_scaling(call.scaling, call.rotary_dim);
  spec.attention_factor = call.attention_factor;
  return spec;
}

bool works_in_double(const rope_call& call) {
  const bool exact_tables = call.angle_source == ROPE_TABLES && call.table.dtype == ROPE_F64;
  return call.q_out.dtype == ROPE_F64 || (call.q_out.dtype == ROPE_F32 && exact_tables);
}

std::int64_t count(const rope_tensor& tensor) {
  return tensor.shape[0] * tensor.shape[1] * tensor.shape[2] * tensor.shape[3];
}

}  // namespace rope
