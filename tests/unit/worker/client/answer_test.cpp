#include "tools/worker/client/answer.hpp"

#include <catch2/catch.hpp>

#include "reference/foreign_json.hpp"

namespace rope::worker {

TEST_CASE("The usual answer is understood as the parser understands it") {
  const std::string line = R"({"id":7,"ok":true,"status":0,"ns":15400})";
  const std::optional<Reply> usual = usual_reply(line, 7);
  REQUIRE(usual);
  const Reply parsed = reply_said_in(parse_json_line(line));
  CHECK(usual->kind == parsed.kind);
  CHECK(usual->status == parsed.status);
  CHECK(usual->nanoseconds == parsed.nanoseconds);
  CHECK(usual->detail == parsed.detail);
}

TEST_CASE("Any other answer is left to the parser") {
  for (const char* line : {R"({"id":8,"ok":true,"status":0,"ns":1})", R"({"id":7,"ok":true,"status":1,"ns":1})",
                           R"({"id":7,"ok":true,"status":0,"ns":1,"breach":"wrote"})",
                           R"({"id":7,"ok":true,"status":0,"ns":1}})", R"({"id":7,"ok":true,"status":0,"ns":-1})",
                           R"({"id":7,"ok":true,"status":0,"ns":})", R"({"id":7,"ok":true,"status":0,"ns":1e9})",
                           R"({"id":7,"ok":true,"status":0,"ns":99999999999999999999})", R"({"id":7,"ok":true)", ""}) {
    CAPTURE(line);
    CHECK_FALSE(usual_reply(line, 7));
  }
}

}  // namespace rope::worker
