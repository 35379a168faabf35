// The text of a call, for a worker that has not seen its layout before. Text is formatted, not built as a tree: a tree
// costs more than the round trip.
#pragma once

#include <cstdint>
#include <string>

#include "tools/worker/client/call_layout.hpp"

namespace rope::worker {

// A call and bind() of it: meaning is taken from there, so that a kernel in a worker is told what a kernel in this
// process would be.
struct BoundCall {
  Call& call;
  rope_call bound = bind(call);
};

// "attrs" of the call, a JSON object.
std::string attributes(const BoundCall& call);

// One line without its newline. `companion` may be null; it runs beside the call then.
std::string call_message(std::int64_t id, std::int64_t plan, const BoundCall& judged, const BoundCall* companion,
                         const CallLayout& layout);

}  // namespace rope::worker
