#include "tools/report/leftovers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <string_view>
#include <vector>

namespace rope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".tmp";

// NAME.NUMBER.tmp
bool is_temporary_of(const std::string& name, const fs::path& path) {
  const std::string begin = path.filename().string() + ".";
  if (!name.starts_with(begin) || !name.ends_with(ending) || name.size() <= begin.size() + ending.size()) return false;
  const std::string_view number(name.data() + begin.size(), name.size() - begin.size() - ending.size());
  return number.find_first_not_of("0123456789") == number.npos;
}

// A lock ends with its process, however that ends. Numbers of processes come again, so they do not tell.
int locked(const std::string& name) {
  const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  close(file);
  return -1;
}

}  // namespace

std::string temporary_for(const fs::path& path) { return fmt::format("{}.{}{}", path.string(), getpid(), ending); }

InUse::InUse(const std::string& temporary) : file_(locked(temporary)) {}

InUse::~InUse() {
  if (file_ >= 0) close(file_);
}

void remove_leftovers(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    if (is_temporary_of(at->path().filename().string(), path)) found.push_back(at->path());
    if (ignored) break;
  }
  for (const fs::path& one : found) {
    const int file = locked(one.string());
    if (file < 0) continue;
    fs::remove_all(one, ignored);
    close(file);
  }
}

}  // namespace rope
