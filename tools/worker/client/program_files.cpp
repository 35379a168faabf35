#include "tools/worker/client/program_files.hpp"

namespace rope {

namespace fs = std::filesystem;

fs::path program_file(std::string_view name) {
  std::error_code unreadable;
  const fs::path folder = fs::read_symlink("/proc/self/exe", unreadable).parent_path();
  for (const char* place : {"", ROPECHECK_LIBRARIES_FROM_PROGRAM, ROPECHECK_DATA_FROM_PROGRAM}) {
    const fs::path file = fs::canonical(folder / place / name, unreadable);
    if (!unreadable) return file;
  }
  return folder / name;
}

}  // namespace rope
