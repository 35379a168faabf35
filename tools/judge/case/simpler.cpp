// What shrinking tries: the simplifications of the table of fields, then smaller heads. RapidCheck walks them to a
// local minimum.
#include <algorithm>

#include "tools/judge/case/case_list.hpp"
#include "tools/judge/case/fields.hpp"

namespace rope {
namespace {

void shrink_dims(const Case& c, std::vector<Case>& out) {
  for (int dim : {2, 4, 8, 16, 32, 64}) {
    if (dim >= c.spec.head_dim || !c.spec.axes.sections.empty()) continue;
    Case smaller = c;
    // Keeps the share of the head that rotates.
    const int rotary = std::max(2, c.spec.rotary_dim * dim / c.spec.head_dim / 2 * 2);
    smaller.spec.head_dim = dim;
    smaller.spec.rotary_dim = c.spec.rotary_dim == c.spec.head_dim ? dim : std::min(rotary, dim);
    smaller.spec.scaling = for_pairs(c.spec.scaling, smaller.spec.rotary_dim / 2);
    out.push_back(smaller);
  }
}

std::vector<Simplification> in_turn() {
  std::vector<Simplification> all;
  for (const Field& field : fields()) all.insert(all.end(), field.simpler.begin(), field.simpler.end());
  std::ranges::stable_sort(all, {}, &Simplification::turn);
  return all;
}

}  // namespace

std::vector<Case> simpler(const Case& c) {
  std::vector<Case> out;
  if (!c.golden.empty()) return out;  // its arrays are what they are
  static const std::vector<Simplification> simplifications = in_turn();
  for (const Simplification& of_field : simplifications) of_field.propose(c, out);
  shrink_dims(c, out);
  std::erase_if(out, [&](const Case& s) { return s.seq < 1 || s.batch < 1 || s.heads < 1 || s == c; });
  return out;
}

}  // namespace rope
