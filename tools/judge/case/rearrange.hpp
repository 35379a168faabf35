// The same rows in other calls: in another order, or fewer of them. A right kernel gives each row the same result.
#pragma once

#include "tools/judge/call/oracles.hpp"
#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// Reverses batches and heads. If the call gives positions, reverses tokens and positions too.
Call reversed(Call call);

// The place in reversed(call) of a row of the call.
RowIndex reversed(const RowIndex& row, const Call& call, bool key);

// Only batch `batch` of the call, with a k of its own if the case has one.
Call one_batch(const Case& c, const Call& whole, std::int64_t batch, Oracles& oracles);

}  // namespace rope
