#include "impls/contract.hpp"

#include <algorithm>
#include <type_traits>

#include "impls/scaling_fields.hpp"
#include "reference/input_error.hpp"

namespace rope {
namespace {

template <class Enum>
constexpr std::int32_t number(Enum value) {
  return static_cast<std::int32_t>(value);
}

static_assert(number(DType::f64) == ROPE_F64 && number(DType::f32) == ROPE_F32 && number(DType::f16) == ROPE_F16);
static_assert(number(DType::bf16) == ROPE_BF16 && number(DType::i32) == ROPE_I32 && number(DType::i64) == ROPE_I64);
static_assert(number(Pairing::half_split) == ROPE_HALF_SPLIT && number(Pairing::interleaved) == ROPE_INTERLEAVED);

// The member of rope_scaling that holds a rule's field; nullptr: the contract does not carry it.
template <class ScalingFields>
constexpr auto member_of(const ScalingFields& fields, std::string_view of_rule) {
  const auto found = std::ranges::find_if(fields, [&](const auto& field) { return field.of_rule == of_rule; });
  return found == std::ranges::end(fields) ? nullptr : found->member;
}

template <class Field>
auto member_for(std::string_view key) {
  if constexpr (std::is_class_v<Field>) {
    return member_of(scaling_lists, key);
  } else if constexpr (std::is_floating_point_v<Field>) {
    return member_of(scaling_numbers, key);
  } else {  // a truth value, or an enumeration of two
    return member_of(scaling_modes, key);
  }
}

// An absent list becomes empty, which the rule's check() then refuses.
void read(const double* list, int rotary_dim, std::vector<double>& value) {
  if (list != nullptr) value.assign(list, list + rotary_dim / 2);
}
void read(double number, int, double& value) { value = number; }
template <class Mode>
void read(std::int32_t number, int, Mode& value) {
  if (number >> 1 != 0) throw InputError("yarn_truncate and yarn_clamp_pairs are 0 or 1");
  value = static_cast<Mode>(number);
}

void write(const std::vector<double>& value, const double*& list) { list = value.data(); }
void write(double value, double& number) { number = value; }
template <class Mode>
void write(Mode value, std::int32_t& number) {
  number = static_cast<std::int32_t>(value);
}

}  // namespace

Scaling to_scaling(const rope_scaling& c, int rotary_dim) {
  Scaling rule = rule_of_kind(c.kind);
  std::visit(
      [&](auto& r) {
        r.fields(r, [&]<class Field>(std::string_view key, Field& value, scaling::Presence, scaling::Range) {
          if (const auto member = member_for<Field>(key)) read(c.*member, rotary_dim, value);
        });
      },
      rule);
  return rule;
}

rope_scaling to_c(const Scaling& rule) {
  rope_scaling c{};
  c.kind = static_cast<std::int32_t>(rule.index());
  std::visit(
      [&](const auto& r) {
        r.fields(r, [&]<class Field>(std::string_view key, const Field& value, scaling::Presence, scaling::Range) {
          if (const auto member = member_for<Field>(key)) write(value, c.*member);
        });
      },
      rule);
  return c;
}

RopeSpec spec_of(const rope_call& call) {
  RopeSpec spec;
  spec.head_dim = static_cast<int>(call.q.shape[3]);
  spec.rotary_dim = call.rotary_dim;
  spec.rotary_offset = call.rotary_offset;
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
