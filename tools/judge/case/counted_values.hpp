// Inputs and tables that hold every value of a 16-bit type, for InputKind::counted_first and its like.
#pragma once

#include "tools/judge/call/call.hpp"
#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// Writes the counted feature of each pair of the row at `data`.
void put_counted(const Case& c, const RowIndex& row, const Tensor& tensor, std::byte* data);

// How many numbers from -1 to 1 a 16-bit type has; both zeros count.
std::int64_t numbers_within_one(DType dtype);

// A table with these numbers, column after column and row after row, and then from the first one again.
Tensor counted_table(const Case& c, std::int64_t rows);

}  // namespace rope
