// What a subject may touch, as the user wants it; and what the system made of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rope::sandbox {

enum class Mode {
  off,
  on,      // what the system offers
  require  // all of it, or no run
};

struct Policy {
  Mode mode = Mode::on;
  std::vector<std::string> variables;            // passed on, besides the ones that environment.hpp lists
  std::vector<std::filesystem::path> allowed;    // may be read and written
  std::vector<std::filesystem::path> reports;    // folders that reports are written to: hidden
};

struct Missing {
  std::string measure;
  std::string why;
};

struct Measures {
  std::vector<std::string> applied;  // of "environment", "processes", "privileges", "files", "calls"
  std::vector<Missing> missing;
};

}  // namespace rope::sandbox
