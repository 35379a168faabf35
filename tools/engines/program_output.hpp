// Runs a program of the engine and keeps what it prints.
#pragma once

#include <string>
#include <vector>

namespace rope::engines {

struct ProgramOutput {
  int start_error = 0;  // errno, if the program could not be started
  int exit_code = -1;   // 128 + N if signal N ended it
  std::string out, err;
};

// `words`: the program, looked for in PATH, and its arguments.
ProgramOutput output_of(std::vector<std::string> words);

}  // namespace rope::engines
