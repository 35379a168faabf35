// Kernels in Python, "python:package.module:function [--convention NAME] [--device NAME] [--python FILE]": which
// interpreter runs them, how the function is called, and where its tensors are. A command's options are written into
// the subjects' names, so a replay line is complete.
#pragma once

#include <string>
#include <vector>

#include "tools/command/cli_fwd.hpp"
#include "tools/worker/client/worker_process.hpp"

namespace rope {

inline constexpr std::string_view python_prefix = "python:";

class PythonOptions {
 public:
  void add_to(CLI::App& command);
  // The names, with the options added to Python's. Throws InputError if an option is given and no name is Python's.
  std::vector<std::string> named(std::vector<std::string> subjects) const;

 private:
  std::string python_;
  std::string convention_;
  std::string device_;
};

// How such a subject's worker is started. Throws InputError if the name does not say a module and a function.
worker::Launch python_launch(const std::string& subject);

// The interpreter without --python: $ROPECHECK_PYTHON, else $VIRTUAL_ENV's, else python3 in PATH.
std::string default_python();

// NAME=value for the environment: where the interpreter finds the package. Empty if the package is installed.
std::vector<std::string> python_environment();

}  // namespace rope
