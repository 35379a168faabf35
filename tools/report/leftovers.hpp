// Temporary files and folders: what a killed process left of them goes when the next one writes to the same place.
#pragma once

#include <filesystem>
#include <string>

namespace rope {

// The name beside `path` under which this process writes it. Nobody else's: it has the process's number.
std::string temporary_for(const std::filesystem::path& path);

// Marks an existing temporary file or folder as in use, until it or the process ends.
class InUse {
 public:
  explicit InUse(const std::string& temporary);
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse();

 private:
  int file_;
};

// Removes the temporary names of `path` that no process uses. Errors do not matter: nothing is worse than before.
void remove_leftovers(const std::filesystem::path& path);

}  // namespace rope
