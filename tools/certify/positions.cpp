#include "tools/certify/positions.hpp"

#include <algorithm>
#include <bit>

#include "tools/certify/ways.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope::certify {
namespace {

constexpr int position_head_dim = 128;
constexpr std::int64_t table_bytes = std::int64_t{32} << 20;  // of cos and sin together; each call gets them whole
constexpr std::int64_t call_elements = std::int64_t{1} << 18;  // tensors that stay in the cache
constexpr std::int64_t least_block = std::int64_t{1} << 16;    // about a tenth of a second for 64 pairs
constexpr std::int64_t most_blocks = 1024;
constexpr std::int64_t tokens_from_0 = std::int64_t{1} << 14;  // where no call can begin elsewhere

std::int64_t row_bytes(const Case& c) {
  const std::int64_t width = c.full_tables ? c.spec.rotary_dim : c.spec.rotary_dim / 2;
  return 2 * width * static_cast<std::int64_t>(size_of(c.given));
}

std::int64_t positions_of(const Case& c, const Request& request, const Selection& selection) {
  const std::int64_t largest = request.claims.capabilities.max_position;
  std::int64_t count = request.positions;
  if (largest < count) count = largest + 1;
  if (selection.most_tokens) count = std::min(count, *selection.most_tokens);
  if (c.source == AngleSource::tables) count = std::min(count, table_bytes / row_bytes(c));
  return count;
}

void add_sweep(Case c, const Request& request, const Selection& selection, std::vector<Sweep>& sweeps) {
  const Claims& claims = request.claims;
  Sweep sweep{"positions", "position", c, positions_of(c, request, selection), 0};
  sweep.base.input = InputKind::unit;
  if (can_begin_anywhere(sweep.base, claims)) {
    const auto spread = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(sweep.size / most_blocks)));
    sweep.block = std::max(least_block, spread);
  } else {
    sweep.size = sweep.block = std::min(sweep.size, tokens_from_0);
  }
  sweep.base.sequence_length = sweep.size;
  if (sweep.size > 0 && has_any(sweep, claims)) sweeps.push_back(sweep);
}

}  // namespace

bool can_begin_anywhere(Case& c, const Claims& claims) {
  Case later = c;
  later.start = 1;
  later.sequence_length = 0;
  const std::optional<Case> given = claimed(later, claims);
  if (!given) return false;
  c.form = given->form;
  c.position_dtype = given->position_dtype;
  return true;
}

void propose_positions(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps) {
  for (const Case& c : ways(request, selection, position_head_dim)) add_sweep(c, request, selection, sweeps);
  if (selection.spec) return;
  // Tables with so many rows fit only if their rows are short.
  for (const Case& c : ways(request, selection, 2)) {
    if (c.source == AngleSource::tables && request.positions > table_bytes / row_bytes(c) / 64) {
      add_sweep(c, request, selection, sweeps);
    }
  }
}

std::vector<Part> position_parts(const Sweep& sweep, Range range) {
  const bool is_whole = sweep.size <= tokens_from_0 && sweep.block == sweep.size;
  // Tables are given whole to each call, so fewer calls are worth more memory.
  const std::int64_t wanted = sweep.base.source == AngleSource::tables ? 8 * call_elements : call_elements;
  const std::int64_t tokens = is_whole ? sweep.size : std::max<std::int64_t>(1, wanted / sweep.base.spec.head_dim);
  std::vector<Part> parts;
  for (std::int64_t at = range.first; at < range.first + range.count; at += tokens) {
    Case c = sweep.base;
    c.start = at;
    c.seq = static_cast<int>(std::min(tokens, range.first + range.count - at));
    parts.push_back({c, c.seq});
  }
  return parts;
}

}  // namespace rope::certify
