// The ways to call a kernel that a sweep goes through: types, angle sources, pairings and scaling rules.
#pragma once

#include <vector>

#include "tools/certify/sweep.hpp"

namespace rope::certify {

// Cases of one batch, one head and one token at position 0: one for each claimed dtype, angle source and pairing, and
// one for each scaling rule where angles are computed. Tables and frequencies come in the working type, or in the first
// type that is claimed. `head_dim`, or the claimed one next to it.
std::vector<Case> ways(const Request& request, const Selection& selection, int head_dim);

// Whether the claims cover some element of the sweep.
bool has_any(const Sweep& sweep, const Claims& claims);

// How many they cover.
std::int64_t claimed_elements(const Sweep& sweep, const Claims& claims);

// A claimed head_dim, as near as possible; even.
int claimed_head_dim(const Claims& claims, int wanted);

}  // namespace rope::certify
