#include "tools/command/deadline_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace rope {
namespace {

std::chrono::milliseconds from_seconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
}

// CLI11's own range lets nan pass.
std::string error_of(const std::string& text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && seconds >= 0.001 && seconds <= 86400) return "";
  return fmt::format("\"{}\" is not a deadline; expected a number of seconds from 0.001 to 86400", text);
}

}  // namespace

void DeadlineOptions::add_to(CLI::App& command) {
  command.add_option("--deadline", call_, "seconds that a call may take; one that hangs is tried a second time")
      ->capture_default_str()
      ->check(error_of, "");
  command
      .add_option("--first-deadline", first_,
                  "seconds that the start of a subject's process may take, and the first call in it, which may compile")
      ->capture_default_str()
      ->check(error_of, "");
}

WorkerOptions DeadlineOptions::worker_options() const {
  WorkerOptions options;
  options.deadline = from_seconds(call_);
  options.first_call_deadline = from_seconds(first_);
  return options;
}

}  // namespace rope
