// What ends a run before its end: signals of the user or the system, and --time-limit. A call that waits is given up,
// and what was found so far is reported.
#pragma once

#include <string>

#include "tools/command/cli_fwd.hpp"
#include "tools/judge/call/stop.hpp"

namespace rope {

// From now on SIGINT, SIGTERM and SIGHUP request this stop; the second of them ends the process at once. A limit on CPU
// time requests it, too. A reader of stdout that ends stops nothing: the other reports are still written.
const Stop& stop_on_signal();

// Counts from the start of the process. Until start(), a command has nothing to report yet: it ends with a sentence.
class TimeLimit {
 public:
  // As soon as the words of the command are read, the time is limited.
  void add_to(CLI::App& command);
  double seconds() const { return seconds_; }

  // stop_on_signal(), which is also requested when the time is up.
  const Stop& start() const;

  // Why the stop was requested: "interrupted", or the limit that was reached.
  std::string words(const Stop& stop) const;

  // What a report says of it; empty if the user requested it, or nobody did.
  std::string ended_by(const Stop& stop) const;

 private:
  void limit() const;

  double seconds_ = 18000;  // with time to spare within the six hours that GitHub gives a job
};

}  // namespace rope
