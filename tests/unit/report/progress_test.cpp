#include "tools/report/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

namespace rope {
namespace {

// The text that `act` writes to stderr.
std::string stderr_of(const std::function<void()>& act) {
  std::FILE* file = std::tmpfile();
  const int before = dup(STDERR_FILENO);
  std::fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  act();
  std::fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  const std::size_t count = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  text.resize(count);
  return text;
}

TEST_CASE("progress: on a terminal it is one line, and goes away") {
  const std::string text = stderr_of([] {
    ProgressLine line(true);
    line.show("[1/30] half_split");
  });
  CHECK(text == "\r\x1b[K[1/30] half_split\r\x1b[K");
}

TEST_CASE("progress: in a pipe there is none") {
  CHECK(stderr_of([] {
          ProgressLine line(false);
          line.show("[1/30] half_split");
          line.clear();
        }).empty());
}

TEST_CASE("progress: after a second the time left is estimated from the progress") {
  CHECK(time_left(0.9, 500, 1000).empty());
  CHECK(time_left(5, 0, 1000).empty());
  CHECK(time_left(4, 500, 1500) == "  about 8 s left");
  CHECK(time_left(10, 500, 1000) == "  about 10 s left");
  CHECK(time_left(10, 999, 1000) == "  less than 1 s left");
  CHECK(time_left(10, 1000, 1000) == "  less than 1 s left");
  CHECK(time_left(60, 100, 1000) == "  about 9 min left");
  CHECK(time_left(60, 1001, 1000).empty());
}

TEST_CASE("progress: at most ten lines a second are drawn, however many cases there are") {
  const std::string text = stderr_of([] {
    ProgressLine line(true);
    for (int i = 0; i < 1000; ++i) line.show("[1/30] half_split");
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
    line.show("[2/30] half_split");
    line.clear();
  });
  CHECK(text.find("[2/30]") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '[') < 10);
}

}  // namespace
}  // namespace rope
