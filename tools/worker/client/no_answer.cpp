#include "tools/worker/client/no_answer.hpp"

#include <fmt/format.h>

#include <string_view>

#include "tools/worker/client/fault_report.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope::worker {
namespace {

constexpr std::string_view killed = "its process was killed";
constexpr std::size_t longest_half_line = 200;

}  // namespace

std::string in_seconds(std::chrono::milliseconds time) {
  return fmt::format("{} s", static_cast<double>(time.count()) / 1000);
}

Reply reply_of_hang(WorkerProcess& process, std::chrono::milliseconds limit, bool computed) {
  const std::string half_line = wire::printable(process.unfinished(), longest_half_line);
  const bool connected = process.connected(), reads = process.reads();
  process.kill();
  if (!reads) {
    return {ReplyKind::misbehaved, ROPE_FAILED, fmt::format("answers, but does not read its calls; {}", killed), 0};
  }
  if (!connected) {
    return {ReplyKind::crashed, ROPE_FAILED,
            fmt::format("closed its connection in the middle of the call and lived on; {}", killed), 0};
  }
  std::string sentence = fmt::format("did not return within {}; {}", in_seconds(limit), killed);
  if (!computed) sentence += "; it mostly slept";
  if (!half_line.empty()) sentence += "; its answer has no newline: " + half_line;
  return {ReplyKind::timed_out, ROPE_FAILED, sentence, 0};
}

void say_twice(Reply& hang) { hang.detail.insert(hang.detail.find(killed) + killed.size(), ", twice in a row"); }

Reply reply_of_end(const WorkerProcess& process) {
  WorkerEnd end = describe_end(process.wait_status(), !process.connected());
  end.sentence += " in the middle of the call";
  const std::string half_line = wire::printable(process.unfinished(), longest_half_line);
  if (!half_line.empty()) end.sentence += ", after half a line: " + half_line;
  return {end.kind, ROPE_FAILED, end.sentence, 0, end.access};
}

}  // namespace rope::worker
