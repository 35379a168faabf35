// Kernels in Python, "python:package.module:function [--convention NAME] [--device NAME] [--python FILE]": which
// interpreter runs them, how the function is called, and where its tensors are. The options of a command are written
// into the subjects' names, so that a replay line says all that is needed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/worker/client/worker_process.hpp"

namespace rope {

inline constexpr std::string_view python_prefix = "python:";

class PythonOptions {
 public:
  void add_to(CLI::App& command);
  // The names with the options in those that are Python's. Throws InputError where an option is given and none is.
  std::vector<std::string> named(std::vector<std::string> subjects) const;

 private:
  std::string python_;
  std::string convention_;
  std::string device_;
};

// How the worker of such a subject is started. Throws InputError for a name that says no module and function.
worker::Launch python_launch(const std::string& subject);

// The interpreter where no --python is given: $ROPECHECK_PYTHON, that of $VIRTUAL_ENV, python3 of PATH.
std::string default_python();

// NAME=value for the environment: where the interpreter finds the package. Empty where the package is installed.
std::vector<std::string> python_environment();

}  // namespace rope
