#include "tools/report/leftovers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

namespace rope {
namespace {

namespace fs = std::filesystem;

// Nobody else names files so: they are removed unasked.
constexpr std::string_view before_number = ".ropecheck-", ending = ".tmp";

std::string host() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

bool is_temporary(std::string_view name) {
  const std::size_t at = name.rfind(before_number);
  if (at == name.npos || !name.ends_with(ending)) return false;
  std::string_view rest = name.substr(at + before_number.size());
  if (rest.size() <= ending.size()) return false;
  rest.remove_suffix(ending.size());
  const std::string_view number = rest.substr(0, rest.find_first_not_of("0123456789"));
  return !number.empty() && (number == rest || rest.substr(number.size()) == "-" + host());
}

int opened(const std::string& name) { return open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); }

// A lock ends with its process, however that ends. Numbers of processes come again, so they do not tell.
bool is_abandoned(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && status.st_uid == geteuid() && flock(file, LOCK_EX | LOCK_NB) == 0;
}

bool has_name(int file, const std::string& name) {
  struct stat one {}, other {};
  return fstat(file, &one) == 0 && lstat(name.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

}  // namespace

std::string temporary_for(const fs::path& path, Writers writers) {
  const std::string of_host = writers == Writers::other_machines ? "-" + host() : "";
  return fmt::format("{}{}{}{}{}", path.string(), before_number, getpid(), of_host, ending);
}

InUse::InUse(const std::string& temporary, const std::function<bool()>& make) {
  while (make()) {
    file_ = opened(temporary);
    if (file_ < 0 && errno == ENOENT) continue;
    if (file_ < 0 || flock(file_, LOCK_EX) != 0 || has_name(file_, temporary)) return;  // not every disk has locks
    close(file_);
    file_ = -1;
  }
}

InUse::~InUse() {
  if (file_ >= 0) close(file_);
}

void remove_leftovers(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, ignored), end; at != end; at.increment(ignored)) {
    if (is_temporary(at->path().filename().string())) found.push_back(at->path());
    if (ignored) break;
  }
  for (const fs::path& one : found) {
    const int file = opened(one.string());
    if (file < 0) continue;
    if (is_abandoned(file)) fs::remove_all(one, ignored);
    close(file);
  }
}

}  // namespace rope
