// What a run tried: the calls whose results were compared with exact values. A call that crashed tried nothing.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tools/judge/call/call.hpp"
#include "tools/judge/call/claims.hpp"

namespace rope {

struct Range {
  std::int64_t least = 0, most = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

// In one dtype, with angles from one source.
struct Tried {
  DType dtype = DType::f32;
  AngleSource source = AngleSource::tables;
  std::int64_t every_to = -1;  // each position from 0 to this one was tried; -1: position 0 was not
  std::int64_t beyond = 0;     // further positions
  std::int64_t largest = 0;    // of all positions
  std::int64_t claimed = 0;    // the largest position that is claimed
  std::vector<std::int64_t> head_dims;
  Range tokens, heads;

  friend bool operator==(const Tried&, const Tried&) = default;
};

// A set of positions, as intervals.
class PositionSet {
 public:
  void add(std::int64_t first, std::int64_t last);
  void add(const PositionSet& other);
  // Each starts behind the end of the one before it, with a gap between the two.
  std::vector<Range> intervals() const;

 private:
  static void join(std::vector<Range>& intervals);

  std::vector<Range> intervals_;
  std::size_t joined_ = 0;  // so many of them were left when they were last joined
};

class TriedCalls {
 public:
  void add(const Call& judged);
  void add(const TriedCalls& other);
  std::vector<Tried> of(const Claims& claims) const;

 private:
  struct Seen {
    PositionSet positions;
    std::set<std::int64_t> head_dims, tokens, heads;
  };
  std::map<std::pair<DType, AngleSource>, Seen> seen_;
};

}  // namespace rope
