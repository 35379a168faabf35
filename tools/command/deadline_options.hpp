// How long a subject in its own process may take: --deadline, --first-deadline and --wall-deadline.
#pragma once

#include <string>
#include <vector>

#include "tools/command/cli_fwd.hpp"
#include "tools/worker/client/worker_options.hpp"

namespace rope {

class DeadlineOptions {
 public:
  void add_to(CLI::App& command);
  WorkerOptions worker_options() const;
  std::vector<std::string> words() const;  // the same for another process

 private:
  double call_ = 10;
  double first_ = 60;
  double wall_ = 120;
  CLI::Option* given_first_ = nullptr;
  CLI::Option* given_wall_ = nullptr;
};

}  // namespace rope
