#include "tools/command/program_folder.hpp"

namespace rope {

std::filesystem::path program_folder() {
  std::error_code unreadable;
  return std::filesystem::read_symlink("/proc/self/exe", unreadable).parent_path();
}

}  // namespace rope
