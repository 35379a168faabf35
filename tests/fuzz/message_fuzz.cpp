// A worker's lines on arbitrary bytes: hello with claims, answers, errors and faults. Each line is understood, or one of
// the exceptions that the client expects says what is wrong.
#include <exception>
#include <nlohmann/json.hpp>
#include <vector>

#include "reference/foreign_json.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tools/worker/client/answer.hpp"
#include "tools/worker/client/fault_report.hpp"
#include "tools/worker/protocol/claims_text.hpp"
#include "tools/worker/protocol/line_buffer.hpp"

namespace {

template <class Read>
void understood_or_refused(const Read& read) {
  try {
    read();
  } catch (const std::exception& error) {
    rope::fuzz::expect(error.what()[0] != '\0', "an error without words");
  }
}

void read_line(const nlohmann::json& message) {
  understood_or_refused([&] {
    std::vector<std::int32_t> head_dims;
    rope::worker::claims_from_json(message.at("claims"), head_dims);
  });
  understood_or_refused([&] {
    const rope::Reply reply = rope::worker::reply_said_in(message);
    rope::fuzz::expect(reply.nanoseconds >= 0, "a call takes less than no time");
    rope::fuzz::expect(reply.kind == rope::ReplyKind::misbehaved || (reply.status >= ROPE_OK && reply.status <= ROPE_FAILED),
                       "a status that does not exist was taken");
  });
  for (const bool is_native : {false, true}) {
    understood_or_refused([&] { rope::worker::reply_of_error(message.at("error"), is_native); });
  }
  understood_or_refused([&] {
    const rope::worker::WorkerEnd end = rope::worker::describe_fault(message.at("fault"), {}, {0x10000000, 0x1000000});
    rope::fuzz::expect(!end.sentence.empty(), "a fault without a sentence");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rope::worker::LineBuffer lines;
  lines.append(rope::fuzz::text_of(data, size));
  while (const auto line = lines.take()) {
    rope::fuzz::refused_or_read([&] { read_line(rope::parse_json_line(*line)); });
  }
  return 0;
}
