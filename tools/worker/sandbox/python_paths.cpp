#include "tools/worker/sandbox/python_paths.hpp"

#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace rope::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view home_key = "home = ";

// pyvenv.cfg: "home = /usr/bin"
void add_origin(const fs::path& prefix, std::vector<fs::path>& paths) {
  std::ifstream settings(prefix / "pyvenv.cfg");
  for (std::string line; std::getline(settings, line);) {
    if (line.starts_with(home_key)) paths.push_back(fs::path(line.substr(home_key.size())).parent_path());
  }
}

void add_named_by(const fs::path& pth, std::vector<fs::path>& paths) {
  std::ifstream file(pth);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('/')) paths.emplace_back(line);
  }
}

}  // namespace

std::vector<fs::path> python_paths(const fs::path& prefix) {
  std::vector<fs::path> paths;
  add_origin(prefix, paths);
  std::error_code absent;
  for (const auto& version : fs::directory_iterator(prefix / "lib", absent)) {
    if (!version.path().filename().string().starts_with("python")) continue;
    for (const auto& entry : fs::directory_iterator(version.path() / "site-packages", absent)) {
      if (entry.path().extension() == ".pth") add_named_by(entry.path(), paths);
    }
  }
  return paths;
}

}  // namespace rope::sandbox
