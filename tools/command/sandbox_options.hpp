// What subjects may touch: --sandbox, --allow and --env.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/command/cli_fwd.hpp"
#include "tools/report/words.hpp"
#include "tools/worker/client/worker_options.hpp"

namespace rope {

class SandboxOptions {
 public:
  void add_to(CLI::App& command);

  // `reports`: the folders that reports are written to. Throws InputError.
  void apply_to(WorkerOptions& options, const std::vector<std::filesystem::path>& reports = {}) const;
  // What gives another command the same options: {"--sandbox", "on", ..}.
  std::vector<std::string> words() const;

 private:
  std::string mode_ = "on";
  std::vector<std::string> allowed_;
  std::vector<std::string> variables_;
};

// What was made of it; none before a worker was started.
std::optional<SandboxWords> sandbox_words(const WorkerOptions& options);

}  // namespace rope
