// The text of a call, for a worker that has not seen its layout before. Text is formatted, not built as a tree: a tree
// costs more than the round trip.
#pragma once

#include <cstdint>
#include <string>

#include "tools/worker/call_layout.hpp"

namespace rope::worker {

// One line without its newline. `bound` is bind(call): meaning is taken from there, so that a kernel in a worker is
// told what a kernel in this process would be.
std::string call_message(std::int64_t id, std::int64_t plan, const rope_call& bound, const Call& call,
                         const CallLayout& layout);

}  // namespace rope::worker
