// What shrinking tries: the simpler values of the table of fields, then smaller heads. RapidCheck follows them to a
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
    keep_in_head(smaller.spec);
    smaller.spec.scaling = for_pairs(c.spec.scaling, smaller.spec.rotary_dim / 2);
    out.push_back(smaller);
  }
}

}  // namespace

std::vector<Case> simpler(const Case& c) {
  std::vector<Case> out;
  if (!c.golden.empty()) return out;  // its arrays are what they are
  for (const CaseChange& of_field : simpler_changes()) of_field.propose(c, out);
  shrink_dims(c, out);
  std::erase_if(out, [&](const Case& s) { return s.seq < 1 || s.batch < 1 || s.heads < 1 || s == c; });
  return out;
}

}  // namespace rope
