// Which cases a kernel's claims cover. Unclaimed cases are never run, and never a failure.
#pragma once

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

// Gives the case what the claims leave no choice of: the only base, tables with a row for each token, and the way in
// which a start is given.
void keep_to_claims(Case& c, const Claims& claims);

}  // namespace rope
