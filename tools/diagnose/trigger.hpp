// Trigger isolation: the smallest set of circumstances in which a kernel still fails.
#pragma once

#include <string>

#include "tools/judge/run/suite.hpp"

namespace rope::diagnosis {

struct Trigger {
  Case c;                           // plain but for what is needed
  std::vector<std::string> needed;  // each switched off alone makes the case hold
  bool any_call = false;            // the plainest case fails
};

// From a failing case, by the check of its requirement.
Trigger isolate(const Case& failing, Examiner& examiner);

std::string words_of(const Trigger& trigger);

}  // namespace rope::diagnosis
