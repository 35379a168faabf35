#include "tools/judge/run/tried.hpp"

#include <algorithm>
#include <tuple>

#include "tools/judge/verdict/expectation.hpp"

namespace rope {
namespace {

// The axes that turn some pair: a position on another axis decides nothing.
std::set<std::int64_t> axes_of(const Call& call) {
  if (!call.axis) return {0};
  std::set<std::int64_t> axes;
  for (std::int64_t pair = 0; pair < call.rotary_dim / 2; ++pair) {
    axes.insert(integer_at(*call.axis, pair * call.axis->strides[0]));
  }
  return axes;
}

void add_positions(PositionSet& positions, const Call& call) {
  if (call.rotary_dim < 2) return;
  const std::int64_t batches = call.q.shape[0], seq = call.q.shape[1];
  if (counts_from_offset(call)) {
    if (batches > 0 && seq > 0) positions.add(call.position_offset, call.position_offset + seq - 1);
    return;
  }
  const std::set<std::int64_t> axes = axes_of(call);
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t s = 0; s < seq; ++s) {
      const std::vector<std::int64_t> of_axes = token_position(call, b, s);
      for (const std::int64_t axis : axes) {
        const std::int64_t position = of_axes[static_cast<std::size_t>(axis)];
        positions.add(position, position);
      }
    }
  }
}

Range range_of(const std::set<std::int64_t>& values) {
  return values.empty() ? Range{} : Range{*values.begin(), *values.rbegin()};
}

}  // namespace

void PositionSet::add(std::int64_t first, std::int64_t last) {
  if (!intervals_.empty() && intervals_.back().least <= first && first <= intervals_.back().most + 1) {
    intervals_.back().most = std::max(intervals_.back().most, last);
    return;
  }
  intervals_.push_back({first, last});
  constexpr std::size_t few = 256;
  if (intervals_.size() < std::max(few, 2 * joined_)) return;
  join(intervals_);
  joined_ = intervals_.size();
}

void PositionSet::add(const PositionSet& other) {
  for (const Range& one : other.intervals_) add(one.least, one.most);
}

void PositionSet::join(std::vector<Range>& intervals) {
  std::ranges::sort(intervals, {}, &Range::least);
  std::size_t last = 0;
  for (const Range& one : intervals) {
    if (one.least > intervals[last].most + 1) {
      intervals[++last] = one;
    } else {
      intervals[last].most = std::max(intervals[last].most, one.most);
    }
  }
  if (!intervals.empty()) intervals.resize(last + 1);
}

std::vector<Range> PositionSet::intervals() const {
  std::vector<Range> joined = intervals_;
  join(joined);
  return joined;
}

void TriedCalls::add(const Call& judged) {
  if (judged.q.count() == 0) return;
  Seen& seen = seen_[{judged.q.dtype, judged.source}];
  seen.head_dims.insert(judged.q.shape[3]);
  seen.tokens.insert(judged.q.shape[1]);
  seen.heads.insert(judged.q.shape[2]);
  if (judged.k) seen.heads.insert(judged.k->shape[2]);
  add_positions(seen.positions, judged);
}

void TriedCalls::add(const TriedCalls& other) {
  for (const auto& [way, theirs] : other.seen_) {
    Seen& seen = seen_[way];
    seen.positions.add(theirs.positions);
    seen.head_dims.insert(theirs.head_dims.begin(), theirs.head_dims.end());
    seen.tokens.insert(theirs.tokens.begin(), theirs.tokens.end());
    seen.heads.insert(theirs.heads.begin(), theirs.heads.end());
  }
}

std::vector<Tried> TriedCalls::of(const Claims& claims) const {
  std::vector<Tried> all;
  for (const auto& [way, seen] : seen_) {
    Tried& tried = all.emplace_back();
    std::tie(tried.dtype, tried.source) = way;
    tried.claimed = claims.capabilities.max_position;
    tried.head_dims.assign(seen.head_dims.begin(), seen.head_dims.end());
    tried.tokens = range_of(seen.tokens);
    tried.heads = range_of(seen.heads);
    for (const Range& one : seen.positions.intervals()) {
      if (one.least == 0) {
        tried.every_to = one.most;
      } else {
        tried.beyond += one.most - one.least + 1;
      }
      tried.largest = one.most;
    }
  }
  return all;
}

}  // namespace rope
