// Calls at positions and with tables of every length, for ANG.
#pragma once

#include "tools/judge/case/case_list.hpp"

namespace rope {

// Tables hold a row for each position. A longer one would only show that a large table can be made.
inline constexpr std::int64_t longest_table = 4096;

// The case with one batch and one head, from position `start` on. With the unit input, each pair's output is cos(phi),
// sin(phi). A Gaussian input would hide a small angle.
Case probe(Case c, std::int64_t start);

// Such a kernel reaches a position only in a call that has all the tokens before it.
bool counts_from_zero(const Claims& claims);

// Calls that end at every power of two and between two of them: a kernel may choose its path by the largest position,
// or by the rows of the tables.
void path_cases(CaseList& list);

}  // namespace rope
