#include "tools/worker/client/code_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace rope::worker {
namespace {

bool is_ours(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  return name.starts_with("ropecheck") || name.starts_with("libropecheck");
}

}  // namespace

std::vector<std::string> code_files_of(pid_t process) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  std::set<std::string> files;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, inode, path;
    words >> range >> rights >> offset >> device >> inode >> std::ws;
    std::getline(words, path);
    if (rights.find('x') != rights.npos && path.starts_with('/') && !is_ours(path)) files.insert(path);
  }
  return {files.begin(), files.end()};
}

}  // namespace rope::worker
