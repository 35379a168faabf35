#include "tools/certify/roundings.hpp"

#include <algorithm>
#include <bit>

#include "tools/certify/ways.hpp"
#include "tools/judge/case/counted_values.hpp"

namespace rope::certify {
namespace {

constexpr int rounding_head_dim = 128;
constexpr std::int64_t negative = 0x8000;  // the bit of the sign
constexpr std::int64_t bytes_of_call = std::int64_t{4} << 20;
constexpr std::int64_t products_of_block = std::int64_t{1} << 24;  // about half a second
constexpr std::int64_t rows_in_f32 = 1024;

// Values of one sign with consecutive bits, and as many of the other sign.
struct Values {
  std::int64_t first, of_a_sign;
  std::int64_t count() const { return 2 * of_a_sign; }
};

// Tables of f32 have too many numbers for all values. A power of two changes no rounding, so one exponent would do; the
// others are for kernels that treat small or large values in another way.
Values values_of(const Case& c) {
  if (size_of(c.given) == 2) return {0, negative};
  if (c.dtype == DType::bf16) return {(127 - 8) << 7, 16 << 7};  // from 2^-8 to 2^8
  return {(15 - 2) << 10, 4 << 10};                              // from 2^-2 to 2^2
}

std::int64_t products_of_value(const Case& c) {
  if (size_of(c.given) == 2) return numbers_within_one(c.given);
  return std::int64_t{c.seq} * (c.spec.rotary_dim / 2);
}

// Of so many rows that each number of a 16-bit type has its place; of the first rows of exact tables.
void set_rows(Case& c, const Claims& claims) {
  const std::int64_t pairs = c.spec.rotary_dim / 2;
  const std::int64_t rows = size_of(c.given) == 2 ? (numbers_within_one(c.given) + pairs - 1) / pairs
                                                  : std::min(rows_in_f32, claims.capabilities.max_position + 1);
  c.seq = static_cast<int>(rows);
}

// How often `part` goes into `whole`, down to a power of two, so that blocks and calls of a sweep are alike.
std::int64_t even_share(std::int64_t whole, std::int64_t part) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, whole / part))));
}

// One value a head.
std::int64_t values_of_call(const Case& c) {
  const std::int64_t bytes = std::int64_t{c.seq} * c.spec.head_dim * static_cast<std::int64_t>(size_of(c.dtype));
  return even_share(bytes_of_call, bytes);
}

void add_sweeps(Case c, const Request& request, std::vector<Sweep>& sweeps) {
  set_rows(c, request.claims);
  const std::int64_t products = products_of_value(c);
  const std::int64_t values_of_block = even_share(products_of_block, products);
  for (const InputKind input : {InputKind::products_first, InputKind::products_second}) {
    Sweep sweep{"roundings", input == InputKind::products_first ? "product of first" : "product of second", c,
                values_of(c).count() * products, values_of_block * products};
    sweep.base.input = input;
    if (has_any(sweep, request.claims)) sweeps.push_back(sweep);
  }
}

}  // namespace

// Whether the products belong to an angle does not matter: a kernel that is given tables multiplies.
void propose_roundings(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps) {
  for (Case way : ways(request, selection, rounding_head_dim)) {
    if (size_of(way.dtype) != 2 || way.source != AngleSource::tables) continue;
    for (const DType given : {way.dtype, DType::f32}) {
      way.given = given;
      add_sweeps(way, request, sweeps);
    }
  }
}

std::vector<Part> rounding_parts(const Sweep& sweep, Range range) {
  const Values values = values_of(sweep.base);
  const std::int64_t products = products_of_value(sweep.base), of_call = values_of_call(sweep.base);
  const std::int64_t last = (range.first + range.count) / products;
  std::vector<Part> parts;
  for (std::int64_t at = range.first / products; at < last;) {
    const bool is_negative = at >= values.of_a_sign;
    const std::int64_t end = std::min(last, is_negative ? values.count() : values.of_a_sign);
    Case c = sweep.base;
    c.seed = static_cast<std::uint64_t>(values.first + (is_negative ? negative + at - values.of_a_sign : at));
    c.heads = static_cast<int>(std::min(of_call, end - at));
    parts.push_back({c, c.heads * products});
    at += c.heads;
  }
  return parts;
}

}  // namespace rope::certify
