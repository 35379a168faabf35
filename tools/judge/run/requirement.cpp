#include "tools/judge/run/requirement.hpp"

namespace rope {

Finding checked(const Requirement& requirement, const Case& c, Examiner& examiner) {
  examiner.make_earlier_calls(c);
  return requirement.check(c, examiner);
}

bool decides(const Requirement& requirement, Demands demanded, const Claims& claims) {
  if (claims.has(ROPE_FEATURE_ROBUST)) demanded |= mask(Demand::robust);
  return requirement.is_must() || (requirement.demanded_by & demanded) != 0;
}

}  // namespace rope
