// Calls with a fault, which a kernel has to refuse.
#pragma once

#include <functional>

#include "tests/conformance/requirements.hpp"

namespace rope {

// Gives `add` a case for each fault of the kind: every claimed pairing and angle source, in one dtype, since the fault
// does not depend on more.
void for_each_fault(CaseList& list, FaultKind kind, const std::function<void(Case)>& add);

template <FaultKind kind>
void with_faults(CaseList& list) {
  for_each_fault(list, kind, [&](const Case& wrong) { list.add(wrong); });
}

inline Finding refused(const Case& c, Examiner& examiner) { return examiner.refusal(c); }

inline constexpr RunnerTraits by_status{.shown_by = ShownBy::status};

}  // namespace rope
