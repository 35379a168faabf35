// Calls at positions and with tables of every length, for ANG.
#pragma once

#include "tools/judge/case/case_list.hpp"

namespace rope {

// Tables hold a row for each position. A longer one would only show that a large table can be made.
inline constexpr std::int64_t longest_table = 4096;

// The case with one batch and one head, from position `start` on. With the unit input, each pair's output is cos(phi),
// sin(phi). A Gaussian input would hide a small angle.
Case probe(Case c, std::int64_t start);

// The case at a position and at both sides of it, at most up to `most`. From 2^24 on f32 does not hold every integer, and
// kernels of narrower types than f64 may use it for angles: then only at a position that f32 holds.
Case around(Case c, std::int64_t position, std::int64_t most);

// Such a kernel reaches a position only in a call that has all the tokens before it.
bool counts_from_zero(const Claims& claims);

// Every position: at level quick up to 65,536, at the others up to 2^20, and at most to the largest claimed one. One
// pair is enough. Each type and source of angles meets them, from level full on each way to call the kernel up to
// 65,536; the representative type does in every claimed form of positions, in place and not.
void every_position_cases(CaseList& list);

// Positions up to the largest claimed one: both sides of every power of two for each type and source, and of places
// between these in turn. Of the tables only the last rows exist, so they reach beyond 2^32 bytes.
void far_position_cases(CaseList& list);

// Tables that end at every power of two and between two of them: a kernel may choose its path by their rows.
void path_cases(CaseList& list);

}  // namespace rope
