#include "tools/certify/alignments.hpp"

#include <algorithm>
#include <array>

#include "tools/certify/ways.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope::certify {
namespace {

constexpr int alignment_head_dim = 64;  // rows of 16-bit types are multiples of 64 bytes too: all begin alike
constexpr std::int64_t calls_of_block = 64;

// One way to pass tensors, with every pair of addresses.
struct Arrangement {
  bool in_place;
  bool with_key;
  std::int64_t step, output_step;  // bytes between addresses
  std::int64_t pairs() const { return (address_unit / step) * (address_unit / output_step); }
};

// In place and without k there is one tensor, so the second address is one for all.
std::array<Arrangement, 4> arrangements(const Case& c) {
  const auto in = static_cast<std::int64_t>(size_of(c.dtype)), out = static_cast<std::int64_t>(size_of(c.out_dtype));
  const std::int64_t both = std::max(in, out);  // k lies as q's output does
  return {{{false, false, in, out}, {false, true, both, both}, {true, false, in, address_unit}, {true, true, in, in}}};
}

std::int64_t size_of_sweep(const Case& c) {
  std::int64_t size = 0;
  for (const Arrangement& one : arrangements(c)) size += one.pairs();
  return size;
}

void set_alignment(Case& c, std::int64_t n) {
  for (const Arrangement& one : arrangements(c)) {
    if (n >= one.pairs()) {
      n -= one.pairs();
      continue;
    }
    const std::int64_t outputs = address_unit / one.output_step;
    c.in_place = one.in_place;
    c.key_heads = one.with_key ? c.heads : 0;
    c.address = static_cast<int>(n / outputs * one.step);
    const bool has_second = !one.in_place || one.with_key;
    c.output_address = has_second ? static_cast<int>(n % outputs * one.output_step) : -1;
    return;
  }
}

}  // namespace

void propose_alignments(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps) {
  for (const Case& way : ways(request, selection, alignment_head_dim)) {
    if (!selection.spec && kind_of(way.spec.scaling) != scaling::None::kind) continue;
    Sweep sweep{"alignments", "address", way, size_of_sweep(way), calls_of_block};
    sweep.base.seq = 3;
    sweep.base.heads = 2;
    if (has_any(sweep, request.claims)) sweeps.push_back(sweep);
  }
}

std::vector<Part> alignment_parts(const Sweep& sweep, Range range) {
  std::vector<Part> parts;
  for (std::int64_t n = range.first; n < range.first + range.count; ++n) {
    Part& part = parts.emplace_back(Part{sweep.base, 1});
    set_alignment(part.c, n);
  }
  return parts;
}

}  // namespace rope::certify
