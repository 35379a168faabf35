// The same rows in other calls: in another order, or fewer of them. A right kernel gives each row what it gave before.
#pragma once

#include "tools/judge/call/oracles.hpp"
#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// Batches and heads in reverse order, and tokens too where the call gives positions, which then are reversed with them.
Call reversed(Call call);

// Where a row of a call stands in reversed() of it.
RowIndex reversed(const RowIndex& row, const Call& call, bool key);

// Batch `batch` of the case's call alone, without k.
Call one_batch(const Case& c, const Call& whole, std::int64_t batch, Oracles& oracles);

}  // namespace rope
