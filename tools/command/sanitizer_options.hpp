// Which compute-sanitizer watches kernels on a CUDA device: --compute-sanitizer.
#pragma once

#include <string>

#include "tools/command/cli_fwd.hpp"
#include "tools/worker/client/worker_options.hpp"

namespace rope {

class SanitizerOptions {
 public:
  void add_to(CLI::App& command);
  // Throws InputError if the named program does not exist.
  void apply_to(WorkerOptions& options) const;

 private:
  std::string program_;  // empty: search for it
};

}  // namespace rope
