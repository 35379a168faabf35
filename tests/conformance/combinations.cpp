#include "tests/conformance/combinations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace rope {
namespace {

// Circumstance i has one of kinds[i] values.
constexpr std::array<std::size_t, 24> kinds{2, 8, 2, 24, 5, 9, 2, 13, 5, 5, 4, 3, 2, 3, 10, 3, 8, 2, 5, 6, 9, 2, 2, 7};
using Circumstances = std::array<std::size_t, kinds.size()>;  // numbered through, from 0 to `values`

constexpr std::size_t values = [] {
  std::size_t sum = 0;
  for (const std::size_t n : kinds) sum += n;
  return sum;
}();

// Between which of the limits it lies: 0 up to the first, and so on.
template <class Value, std::size_t n>
std::size_t size_class(Value value, const Value (&limits)[n]) {
  return static_cast<std::size_t>(std::lower_bound(std::begin(limits), std::end(limits), value) - std::begin(limits));
}

template <class Enum>
std::size_t number(Enum value) {
  return static_cast<std::size_t>(value);
}

std::size_t source_of(const Case& c) {
  constexpr std::size_t scalings = std::variant_size_v<Scaling>;
  static_assert(scalings == 10);
  if (c.source == AngleSource::computed) return c.spec.scaling.index();
  if (c.source == AngleSource::frequencies) return scalings + (c.given == DType::f64 ? 1 : 0);
  const std::size_t width = c.unequal_halves ? 2 : c.full_tables ? 1 : 0;
  return scalings + 2 + 4 * width + number(c.given);
}

std::size_t form_of(const Case& c) {
  if (c.form == PositionForm::offset) return 0;
  return 1 + (c.form == PositionForm::per_batch ? 2 : 0) + (c.position_dtype == DType::i32 ? 1 : 0);
}

std::size_t rest_of(const RopeSpec& spec) {
  const int rest = spec.head_dim - spec.rotary_dim;
  return rest == 0 ? 0 : 2 * rest == spec.head_dim ? 1 : rest == 2 ? 2 : rest % 8 == 0 ? 3 : 4;
}

std::size_t key_of(const Case& c) {
  return c.key_heads == 0 ? 0 : c.key_heads == c.heads ? 1 : c.key_heads == 1 ? 2 : 3;
}

std::size_t axes_of(const RopeSpec& spec) {
  return spec.axes.count() == 1 ? 0 : spec.axes.order == AxisLayout::Order::interleaved ? 2 : 1;
}

std::size_t base_of(const RopeSpec& spec) {
  if (spec.base == 10000) return 0;
  return spec.base == std::floor(spec.base) ? 1 : 2;
}

Circumstances circumstances_of(const Case& c) {
  static constexpr int dims[] = {4, 16, 63, 64, 127, 128, 255, 256, 512};
  static constexpr int tokens[] = {1, 4, 16, 64, 256, 512, 1024};
  static constexpr int batches[] = {1, 4, 16, 64};
  static constexpr int heads[] = {1, 4, 16, 64, 128};
  static constexpr std::int64_t positions[] = {0,       255,     2047,          4095,
                                               1 << 16, 1 << 20, (1 << 24) - 1, (std::int64_t{1} << 31) - 1};
  Circumstances result{number(c.spec.pairing),
                       2 * number(c.dtype) + (c.out_dtype == c.dtype ? 0 : 1),
                       c.direction == Direction::backward ? 1u : 0u,
                       source_of(c),
                       form_of(c),
                       number(c.pattern),
                       c.in_place ? 1u : 0u,
                       number(c.layout),
                       number(c.output),
                       rest_of(c.spec),
                       key_of(c),
                       axes_of(c.spec),
                       c.spec.attention_factor.value_or(1) == 1 ? 0u : 1u,
                       base_of(c.spec),
                       size_class(c.spec.head_dim, dims),
                       c.spec.head_dim % 16 == 0  ? 0u
                       : c.spec.head_dim % 8 == 0 ? 1u
                                                  : 2u,
                       size_class(c.seq, tokens),
                       c.seq % 16 == 0 ? 0u : 1u,  // whole tiles
                       size_class(c.batch, batches),
                       size_class(c.heads, heads),
                       size_class(largest_position(c), positions),
                       c.sequence_length == 0 ? 0u : 1u,
                       c.spare_rows == 0 ? 0u : 1u,
                       number(c.input)};
  std::size_t first = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    result[i] += first;
    first += kinds[i];
  }
  return result;
}

}  // namespace

Combinations::Combinations(int strength)
    : strength_(strength), seen_(strength < 3 ? values * values : values * values * values) {}

template <class Visit>
void Combinations::for_each(const Case& c, Visit visit) const {
  const Circumstances of = circumstances_of(c);
  for (std::size_t i = 0; i < of.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (strength_ < 3) visit(of[i] * values + of[j]);
      for (std::size_t k = 0; strength_ >= 3 && k < j; ++k) visit((of[i] * values + of[j]) * values + of[k]);
    }
  }
}

std::size_t Combinations::fresh(const Case& c) const {
  std::size_t count = 0;
  for_each(c, [&](std::size_t at) { count += seen_[at] == 0 ? 1 : 0; });
  return count;
}

void Combinations::add(const Case& c) {
  for_each(c, [&](std::size_t at) { seen_[at] = 1; });
}

}  // namespace rope
