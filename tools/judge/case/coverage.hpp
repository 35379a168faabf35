// Which cases a kernel's claims cover. Unclaimed cases are never run, and never a failure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tools/judge/call/claims.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// Empty if the claims cover the case; else why not, in a few words ("bf16 input is not claimed").
std::string uncovered(const Case& c, const Claims& claims);

// A feature of the contract, and the cases that need it.
struct FeatureNeed {
  rope_feature feature;
  const char* what;
  bool (*needed)(const Case& c);
};
std::span<const FeatureNeed> feature_needs();

// Gives the case what the claims leave no choice of. What the case asks for by itself stays, and may be uncovered.
void keep_to_claims(Case& c, const Claims& claims);
// Its two parts. Of the spec: the only base, the claimed choices of a rule, the claimed number and order of axes.
void keep_spec_to_claims(Case& c, const Claims& claims);
// Of the call: tables with a row for each token, the way in which a start is given, and what every call has.
void keep_call_to_claims(Case& c, const Claims& claims);

// The case after keep_to_claims, if it is covered then.
std::optional<Case> claimed(Case c, const Claims& claims);

}  // namespace rope
