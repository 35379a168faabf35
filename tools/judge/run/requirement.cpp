#include "tools/judge/run/requirement.hpp"

#include "tools/judge/call/row_placement.hpp"

namespace rope {

Finding checked(const Requirement& requirement, const Case& c, Examiner& examiner) {
  try {
    examiner.make_earlier_calls(c);
    return requirement.check(c, examiner);
  } catch (const NoRoom& error) {  // this machine has no room for the call; the kernel is not to blame
    Finding undecided;
    undecided.decided = false;
    undecided.message = error.what();
    return undecided;
  }
}

bool decides(const Requirement& requirement, Demands demanded, const Claims& claims) {
  if (claims.has(ROPE_FEATURE_ROBUST)) demanded |= mask(Demand::robust);
  return requirement.is_must() || (requirement.demanded_by & demanded) != 0;
}

}  // namespace rope
