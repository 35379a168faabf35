// Trial: one call that was made, before it is judged.
#pragma once

#include <optional>

#include "tools/judge/call/call.hpp"
#include "tools/judge/verdict/finding.hpp"

namespace rope {

// Inputs as they were, outputs as they are, and what went wrong in making the call.
struct Trial {
  Call call;                // after
  Tensor q;                 // before
  std::optional<Tensor> k;  // before
  Finding problem;          // passed() where the kernel answered ok and left alone what it must

  bool ok() const { return problem.passed(); }
};

}  // namespace rope
