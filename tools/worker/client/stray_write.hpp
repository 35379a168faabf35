// Writes that missed a tensor: what is left of the canary around it, or between its rows.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tools/worker/client/call_layout.hpp"
#include "tools/worker/client/fault_report.hpp"

namespace rope::worker {

// `page`: the pages of the tensor after the call. Nullopt: everything beside it is as it was.
std::optional<WorkerEnd> stray_write(const TensorMapping& placed, std::span<const std::byte> page,
                                     const CallLayout& layout);

}  // namespace rope::worker
