#include "tools/worker/client/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tools/judge/call/row_placement.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope::worker {
namespace {

using nlohmann::json;

// A worker in another language names its errors, PROTOCOL.md.
std::optional<std::int32_t> status_named(std::string_view type) {
  if (type == "unsupported") return ROPE_UNSUPPORTED;
  if (type == "invalid_argument") return ROPE_INVALID_ARGUMENT;
  if (type == "failed") return ROPE_FAILED;
  return std::nullopt;
}

Raised raised_by(const json& error, const std::string& type) {
  const std::string first_line = headline(wire::printable(error.value("msg", ""), 1 << 12));
  return {first_line.empty() ? type : fmt::format("{}: {}", type, first_line),
          wire::printable(error.value("at", ""), 1 << 10), error.value("in_adapter", false)};
}

}  // namespace

std::optional<Reply> usual_reply(std::string_view line, std::int64_t id) {
  const std::string begin = fmt::format("{{\"id\":{},\"ok\":true,\"status\":0,\"ns\":", id);
  if (!line.starts_with(begin)) return std::nullopt;
  Reply reply;
  const char* const last = line.data() + line.size();
  const auto [end, error] = std::from_chars(line.data() + begin.size(), last, reply.nanoseconds);
  if (error != std::errc() || std::string_view(end, last) != "}" || reply.nanoseconds < 0) return std::nullopt;
  return reply;
}

Reply reply_said_in(const json& message) {
  Reply reply;
  reply.status = wire::whole_in<std::int32_t>(message, "status", ROPE_OK);
  constexpr double longest = 1e18;  // nanoseconds
  reply.nanoseconds = static_cast<std::int64_t>(std::clamp(message.value("ns", 0.0), 0.0, longest));
  if (const auto status = wire::whole_in<std::int32_t>(message, "beside_status", ROPE_OK); reply.status == ROPE_OK) {
    reply.status = status;
    if (status != ROPE_OK) reply.detail = "the concurrent call was answered so";
  }
  if (reply.status < ROPE_OK || reply.status > ROPE_FAILED) {
    reply.kind = ReplyKind::misbehaved;
    reply.detail =
        fmt::format("returned status {}; rope_status has {} to {}", reply.status, int{ROPE_OK}, int{ROPE_FAILED});
  }
  if (const std::string breach = message.value("breach", ""); !breach.empty()) {
    reply.kind = ReplyKind::misbehaved;
    reply.detail = wire::printable(breach, 1 << 10);
    reply.breaks_mode = message.value("breaks_mode", false);
  }
  return reply;
}

Reply reply_of_error(const json& error, bool is_native) {
  const bool is_raised = error.contains("raised");
  const std::string type = wire::printable(error.value(is_raised ? "raised" : "type", ""), 256);
  std::string text = wire::printable(error.value("msg", ""), 1 << 12);
  if (const std::string trace = error.value("trace", ""); !trace.empty()) {
    text += fmt::format("\n{}", wire::printable(trace, 1 << 12));
  }
  if (!is_raised && type == wire::no_room) throw NoRoom(text.empty() ? "there is no room for the call's tensors" : text);
  if (const auto status = status_named(type); status && !is_raised) return {ReplyKind::done, *status, text, 0};
  const Raised raised = raised_by(error, type);
  if (is_native) {
    return {ReplyKind::misbehaved, ROPE_FAILED,
            fmt::format("let a C++ exception escape from a C function: {}: {}", type, text), 0, {}, {}, raised};
  }
  const char* where = raised.in_adapter ? "in the adapter's code, not in the kernel's: " : "";
  Reply reply{ReplyKind::done, ROPE_FAILED, fmt::format("raised {}{}: {}", where, type, text), 0, {}, {}, raised};
  reply.cannot_run = wire::printable(error.value("cannot_run", ""), 1 << 12);
  return reply;
}

}  // namespace rope::worker
