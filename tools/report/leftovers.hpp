// Temporary files and folders: what a killed process left of them goes when the next command runs in their folder or
// writes to it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace rope {

enum class Writers {
  this_machine,
  other_machines,  // too: processes there may have the same numbers, and their locks are not always seen
};

// The name beside `path` under which this process writes it: `path`.ropecheck-NUMBER.tmp, with the process's number.
std::string temporary_for(const std::filesystem::path& path, Writers writers = Writers::this_machine);

// Makes a temporary file or folder, and marks it as in use until this or the process ends.
class InUse {
 public:
  // `make` returns whether it made `temporary`. It is called again if another process took it for a leftover, because
  // it had no mark yet.
  InUse(const std::string& temporary, const std::function<bool()>& make);
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse();

 private:
  int file_ = -1;
};

// Removes what this user's killed processes left in `folder`. Errors do not matter: nothing is worse than before.
void remove_leftovers(const std::filesystem::path& folder);

}  // namespace rope
