#include "tools/judge/run/requirement.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "tools/judge/call/row_placement.hpp"
#include "tools/judge/run/explain.hpp"

namespace rope {
namespace {

Finding found(const Requirement& requirement, const Case& c, Examiner& examiner) {
  examiner.make_earlier_calls(c);
  Finding finding = requirement.check(c, examiner);
  if (relates_results(finding) && !finding.passed() && finding.message.empty()) {
    throw std::logic_error(fmt::format("the check of {} has no words for what it compares: told()", requirement.id));
  }
  return finding;
}

}  // namespace

Finding checked(const Requirement& requirement, const Case& c, Examiner& examiner) {
  try {
    return found(requirement, c, examiner);
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
