// Trial: one call that was made, before it is judged.
#pragma once

#include <optional>

#include "tools/judge/call/call.hpp"
#include "tools/judge/verdict/finding.hpp"

namespace rope {

// Inputs before the call, outputs after it, and what went wrong in making the call.
struct Trial {
  Call call;                // after
  Tensor q;                 // before
  std::optional<Tensor> k;  // before
  Finding problem;          // passed() if the kernel answered ok and changed nothing that it must not change

  bool ok() const { return problem.passed(); }
};

}  // namespace rope
