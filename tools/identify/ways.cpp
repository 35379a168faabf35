#include <algorithm>
#include <tuple>

#include "tools/identify/executed_plan.hpp"

namespace rope {

std::vector<Case> ways_to_identify(const Claims& claims, const Selection& selection,
                                   std::optional<AngleSource> source) {
  CaseList list("", claims, selection, nullptr);
  std::vector<Case> ways;
  const auto rank = [](const Case& c) {
    const int dtype = c.dtype == DType::f32 ? 0 : c.dtype == DType::f64 ? 1 : c.dtype == DType::bf16 ? 2 : 3;
    const int from = c.source == AngleSource::computed ? 0 : c.source == AngleSource::frequencies ? 1 : 2;
    return std::tuple(dtype, from, c.out_dtype != c.dtype, c.given != c.dtype, c.full_tables);
  };
  list.for_each_variant(128, [&](Case c) {
    if (source && c.source != *source) return;
    const Pairing pairing = c.spec.pairing;
    c.spec = selection.spec_for(c.spec);
    if (c.spec.pairing != pairing || !list.covers(c)) return;
    const auto same =
        std::find_if(ways.begin(), ways.end(), [&](const Case& w) { return w.spec.pairing == c.spec.pairing; });
    if (same == ways.end()) {
      ways.push_back(c);
    } else if (rank(c) < rank(*same)) {
      *same = c;
    }
  });
  return ways;
}

}  // namespace rope
