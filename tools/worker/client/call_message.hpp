// The text of a call, for a worker that has not seen its layout before. The text is formatted directly: building a tree
// would cost more than the round trip.
#pragma once

#include <cstdint>
#include <string>

#include "tools/worker/client/call_layout.hpp"

namespace rope::worker {

// A call and what bind() says of it, so a kernel in a worker is told the same as a kernel in this process.
struct BoundCall {
  Call& call;
  rope_call bound = described(call);
};

// "attrs" of the call, a JSON object.
std::string attributes(const BoundCall& call);

// What follows the numbers in a line that describes a call. `companion`, the concurrent call, may be null.
std::string call_message(const BoundCall& judged, const BoundCall* companion, const CallLayout& layout);

}  // namespace rope::worker
