// A golden case as a call: the source's own input, tables, frequencies and positions in the contract's terms.
#pragma once

#include "golden/manifest.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// The source's result in the contract's order, [batch, seq, heads, head_dim].
struct GoldenOutput {
  Tensor value;
  std::optional<GoldenPrint> print;  // of printed values: good to half a unit of the last digit
};

struct GoldenCall {
  Call call;
  GoldenOutput q;
  std::optional<GoldenOutput> k;
};

// The case that stands for `golden` with angles from `source`. None if the manifest lacks the arrays
// for it, or says that a call cannot carry it.
std::optional<Case> case_of_golden(const GoldenCase& golden, AngleSource source);

GoldenCall build_golden_call(const Case& c, const Manifest& manifest);

}  // namespace rope
