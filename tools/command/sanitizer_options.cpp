#include "tools/command/sanitizer_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "reference/input_error.hpp"
#include "tools/command/option_values.hpp"
#include "tools/worker/client/compute_sanitizer.hpp"

namespace rope {

void SanitizerOptions::add_to(CLI::App& command) {
  command
      .add_option("--compute-sanitizer", program_,
                  "the program, or none; default: the one in PATH or in CUDA's folder (MEM-07, only CUDA kernels)")
      ->type_name(kinds::file);
}

void SanitizerOptions::apply_to(WorkerOptions& options) const {
  if (program_ == "none") return;
  if (program_.empty()) {
    options.compute_sanitizer = worker::find_compute_sanitizer();
    return;
  }
  if (access(program_.c_str(), X_OK) != 0 || std::filesystem::is_directory(program_)) {
    throw InputError(fmt::format("--compute-sanitizer {}: no program there; give its path, or none", program_));
  }
  options.compute_sanitizer = std::filesystem::absolute(program_);
}

}  // namespace rope
