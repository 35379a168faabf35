// Which cases a kernel's claims cover. Unclaimed cases are never run, and never a failure.
#pragma once

#include <string>

#include "tools/judge/call/claims.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// Empty if the claims cover the case; else why not, in a few words ("bf16 input is not claimed").
std::string uncovered(const Case& c, const Claims& claims);

}  // namespace rope
