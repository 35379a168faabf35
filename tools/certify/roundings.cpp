#include "tools/certify/roundings.hpp"

#include <algorithm>

#include "tools/certify/ways.hpp"
#include "tools/judge/case/counted_values.hpp"

namespace rope::certify {
namespace {

constexpr int rounding_head_dim = 128;
constexpr std::int64_t all_x = 65536;
constexpr std::int64_t x_of_block = 512;  // about a third of a second
constexpr std::int64_t x_of_call = 32;    // one a head; tensors of 4 MB

}  // namespace

// Whether the products belong to an angle does not matter: a kernel that is given tables multiplies.
void propose_roundings(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps) {
  for (Case way : ways(request, selection, rounding_head_dim)) {
    if (size_of(way.dtype) != 2 || way.source != AngleSource::tables) continue;
    way.given = way.dtype;
    const std::int64_t numbers = numbers_within_one(way.given), pairs = way.spec.rotary_dim / 2;
    way.seq = static_cast<int>((numbers + pairs - 1) / pairs);
    for (const InputKind input : {InputKind::products_first, InputKind::products_second}) {
      Sweep sweep{"roundings", input == InputKind::products_first ? "product of first" : "product of second", way,
                  all_x * numbers, x_of_block * numbers};
      sweep.base.input = input;
      if (has_any(sweep, request.claims)) sweeps.push_back(sweep);
    }
  }
}

std::vector<Part> rounding_parts(const Sweep& sweep, Range range) {
  const std::int64_t numbers = sweep.size / all_x;
  const std::int64_t last = (range.first + range.count) / numbers;
  std::vector<Part> parts;
  for (std::int64_t value = range.first / numbers; value < last; value += x_of_call) {
    Case c = sweep.base;
    c.seed = static_cast<std::uint64_t>(value);
    c.heads = static_cast<int>(std::min(x_of_call, last - value));
    parts.push_back({c, c.heads * numbers});
  }
  return parts;
}

}  // namespace rope::certify
