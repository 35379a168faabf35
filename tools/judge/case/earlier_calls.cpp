// The calls that come before a case's own.
#include <algorithm>

#include "tools/judge/case/case.hpp"

namespace rope {

std::vector<Case> earlier_cases(const Case& c) {
  std::vector<Case> all;
  for (const EarlierCall& call : c.before) {
    Case& earlier = all.emplace_back(c);
    earlier.requirement.clear();
    earlier.before.clear();
    earlier.golden.clear();
    if (call.dtype != c.dtype) earlier.out_dtype = call.dtype;
    earlier.dtype = call.dtype;
    if (c.source == AngleSource::tables && c.given == c.dtype) earlier.given = call.dtype;
    earlier.seq = call.seq;
    earlier.start = call.start;
    earlier.pattern = PositionPattern::consecutive;
    earlier.sequence_length = 0;
  }
  return all;
}

std::optional<DType> other_dtype_before(const Case& c) {
  const auto other =
      std::find_if(c.before.rbegin(), c.before.rend(), [&](const EarlierCall& e) { return e.dtype != c.dtype; });
  return other == c.before.rend() ? std::nullopt : std::optional(other->dtype);
}

}  // namespace rope
