// Calls of sizes at which launches, blocks and index types have their limits.
#pragma once

#include "tests/conformance/requirements.hpp"

namespace rope {

// With heads of at most so many features, a call of 65,537 rows takes a few milliseconds.
inline constexpr int small_head = 16;

// More tokens, batches or heads than a grid's second and third dimension hold, and more pairs than 2^24.
void many_rows_cases(CaseList& list);
// Heads of more than 1024 features.
void wide_head_cases(CaseList& list);
// About as many tokens, heads or batches as fill a block of a power of two.
void block_cases(CaseList& list);

}  // namespace rope
