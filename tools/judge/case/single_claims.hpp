// Single claims: what a kernel can claim or leave out by itself, in words.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/judge/call/claims.hpp"

namespace rope {

struct SingleClaim {
  std::string words;  // "in place", "bf16 input", as coverage.hpp calls it
  std::function<bool(const Claims&)> is_made;
  std::function<void(Claims&, bool made)> make;
};

// Of features, types, sources, pairings, rules and table widths. Of claims that do equally well, callers take the first.
std::vector<SingleClaim> single_claims();

// Whether claims still mean something without what they have lost: a kernel of tables has some type of tables.
bool keeps_meaning(const rope_capabilities& before, const rope_capabilities& after);

}  // namespace rope
