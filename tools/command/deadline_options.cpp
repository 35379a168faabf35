#include "tools/command/deadline_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>

#include "tools/command/option_values.hpp"

namespace rope {
namespace {

std::chrono::milliseconds from_seconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
}

}  // namespace

void DeadlineOptions::add_to(CLI::App& command) {
  takes_seconds(command.add_option("--deadline", call_,
                                   "seconds that a call may compute; one that takes longer is tried a second time"),
                "a deadline")
      ->capture_default_str();
  given_first_ = takes_seconds(
      command.add_option("--first-deadline", first_,
                         "seconds that the start of a subject's process may compute, and the first call in it, which "
                         "may compile; if given, also where the subject asks for more"),
      "a deadline");
  given_first_->capture_default_str();
  given_wall_ = takes_seconds(
      command.add_option("--wall-deadline", wall_,
                         "seconds that either may take if the process mostly sleeps, if that is more; time in which it "
                         "waits for a CPU does not count"),
      "a deadline");
  given_wall_->capture_default_str();
}

WorkerOptions DeadlineOptions::worker_options() const {
  WorkerOptions options;
  options.deadline = from_seconds(call_);
  options.load_deadline = options.first_call_deadline = from_seconds(first_);
  options.first_call_is_limited = given_first_ != nullptr && given_first_->count() > 0;
  options.wall_deadline = from_seconds(wall_);
  return options;
}

std::vector<std::string> DeadlineOptions::words() const {
  std::vector<std::string> words{"--deadline", fmt::format("{}", call_)};
  for (const auto& [option, seconds] : {std::pair(given_first_, first_), std::pair(given_wall_, wall_)}) {
    if (option == nullptr || option->count() == 0) continue;
    words.insert(words.end(), {option->get_name(), fmt::format("{}", seconds)});
  }
  return words;
}

}  // namespace rope
