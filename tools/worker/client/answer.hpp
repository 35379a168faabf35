// What a worker's answer to a call says in words and numbers. Tensors come by shared memory.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "tools/judge/run/subject.hpp"

namespace rope::worker {

// Of the line that our own host answers most calls with: OK, and the time. It is understood without a parser, which
// would take as long as the rest of the way back. Nullopt: any other line.
std::optional<Reply> usual_reply(std::string_view line, std::int64_t id);

// Of an answer with "ok": status, time, a breach that the worker saw. Throws for members of another type.
Reply reply_said_in(const nlohmann::json& answer);

// Of the "error" of an answer without. Throws NoRoom if the call was not made for lack of memory.
Reply reply_of_error(const nlohmann::json& error, bool is_native);

}  // namespace rope::worker
