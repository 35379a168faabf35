// The folder that subjects of a run may write to. It is removed when the run ends. If the run was killed, the next run
// removes it.
#pragma once

#include <string>

#include "tools/worker/protocol/file_descriptor.hpp"

namespace rope::sandbox {

class Scratch {
 public:
  // Throws std::system_error if there can be none.
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  worker::FileDescriptor lock_;  // held as long as the run lives
};

}  // namespace rope::sandbox
