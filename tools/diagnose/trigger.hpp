// Trigger isolation: the smallest set of circumstances in which a kernel still fails.
#pragma once

#include <string>

#include "tools/judge/run/suite.hpp"

namespace rope::diagnosis {

struct Trigger {
  Case c;                           // plain except for what is needed
  std::vector<std::string> needed;  // switching off any one of these makes the case hold
  bool any_call = false;            // the plainest case fails
};

// Starts from a failing case and uses its requirement's check.
Trigger isolate(const Case& failing, Examiner& examiner);

std::string words_of(const Trigger& trigger);

}  // namespace rope::diagnosis
