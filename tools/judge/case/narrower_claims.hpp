// If a kernel fails only where some of its claims are needed, it may simply claim too much. This finds such claims.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/judge/call/claims.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

struct NarrowerClaims {
  Claims claims;
  std::vector<std::string> dropped;     // "in place", "bf16 input"; no word about positions
  bool has_fewer_positions = false;     // its max_position is one less than some failing case needs: no limit is known
};

// Claims that cover none of the failing cases: some of the passing ones are left, and each dropped claim is needed by a
// failing case that needs no other dropped one. nullopt: there are none.
std::optional<NarrowerClaims> narrower_claims(const Claims& claims, std::span<const Case> failing,
                                              std::span<const Case> passing);

}  // namespace rope
