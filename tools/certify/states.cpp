#include "tools/certify/states.hpp"

#include <algorithm>
#include <cmath>

#include "tools/certify/positions.hpp"
#include "tools/certify/ways.hpp"

namespace rope::certify {
namespace {

constexpr int state_head_dim = 16;
constexpr int seqs[] = {1, 2, 7, 64, 300};
constexpr std::int64_t starts[] = {0, 1, 5, 100, 1000};
constexpr DType state_dtypes[] = {DType::f32, DType::bf16, DType::f16, DType::f64};
constexpr std::int64_t unlike_calls = std::ssize(seqs) * std::ssize(starts) * std::ssize(state_dtypes);

EarlierCall call_at(std::int64_t n) {
  const DType dtype = state_dtypes[n % std::ssize(state_dtypes)];
  n /= std::ssize(state_dtypes);
  return {dtype, seqs[n % std::ssize(seqs)], starts[n / std::ssize(seqs)]};
}

}  // namespace

// One way for each angle source, pairing and rule; the calls bring their own types.
void propose_states(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps) {
  std::vector<Case> seen;
  for (const Case& way : ways(request, selection, state_head_dim)) {
    Case alike = way;
    alike.dtype = alike.out_dtype = DType::f32;
    alike.given = DType::f32;
    if (way.dtype != way.out_dtype || std::ranges::find(seen, alike) != seen.end()) continue;
    seen.push_back(alike);
    Sweep sweep{"states", "pair of calls", way, unlike_calls * unlike_calls, unlike_calls};
    if (can_begin_anywhere(sweep.base, request.claims) && has_any(sweep, request.claims)) sweeps.push_back(sweep);
  }
}

std::vector<Part> state_parts(const Sweep& sweep, Range range) {
  std::vector<Part> parts;
  for (std::int64_t n = range.first; n < range.first + range.count; ++n) {
    Case c = sweep.base;
    const EarlierCall judged = call_at(n % unlike_calls);
    c.dtype = c.out_dtype = judged.dtype;
    c.seq = judged.seq;
    c.start = judged.start;
    c.before = {call_at(n / unlike_calls)};
    parts.push_back({std::move(c), 1});
  }
  return parts;
}

}  // namespace rope::certify
