#include "tools/worker/sandbox/scratch.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace rope::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view beginning = "ropecheck-scratch.";

// A subject may have taken the permission to list its folders.
void remove_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::permissions(folder, fs::perms::owner_all, ignored);
  for (auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, ignored);
       !ignored && entry != fs::recursive_directory_iterator(); entry.increment(ignored)) {
    if (!entry->is_directory(ignored) || entry->is_symlink(ignored)) continue;
    fs::permissions(entry->path(), fs::perms::owner_all, ignored);
  }
  fs::remove_all(folder, ignored);
}

worker::FileDescriptor locked(const fs::path& folder) {
  worker::FileDescriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (file && flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.reset();
  return file;
}

bool is_ours(const worker::FileDescriptor& folder) {
  struct stat status {};
  return fstat(folder.get(), &status) == 0 && status.st_uid == geteuid();
}

void remove_abandoned(const fs::path& folder) {
  std::error_code ignored;
  for (auto entry = fs::directory_iterator(folder, ignored); !ignored && entry != fs::directory_iterator();
       entry.increment(ignored)) {
    if (!entry->path().filename().string().starts_with(beginning)) continue;
    if (const worker::FileDescriptor lock = locked(entry->path()); lock && is_ours(lock)) remove_folder(entry->path());
  }
}

}  // namespace

Scratch::Scratch() {
  const fs::path folder = fs::temp_directory_path();
  remove_abandoned(folder);
  // Before it is locked, another run that starts now may take it for an abandoned one.
  while (!lock_ || !fs::exists(path_)) {
    path_ = (folder / (std::string(beginning) + "XXXXXX")).string();
    if (mkdtemp(path_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path_);
    lock_ = locked(path_);
  }
}

Scratch::~Scratch() { remove_folder(path_); }

}  // namespace rope::sandbox
