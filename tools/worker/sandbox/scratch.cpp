#include "tools/worker/sandbox/scratch.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace rope::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view beginning = "ropecheck-scratch.";

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> found;
  // Its own file: closing the list closes it.
  DIR* const list = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (list == nullptr) return found;
  while (const dirent* entry = readdir(list)) {
    if (const std::string name = entry->d_name; name != "." && name != "..") found.push_back(name);
  }
  closedir(list);
  return found;
}

// A subject may have taken the permission to list its folders.
worker::FileDescriptor opened(int parent, const char* name) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  worker::FileDescriptor folder(openat(parent, name, flags));
  if (folder || errno != EACCES) return folder;
  fchmodat(parent, name, S_IRWXU, 0);
  return worker::FileDescriptor(openat(parent, name, flags));
}

// Folders within folders are moved up before they are emptied: they may be so deep that no path leads to them, and that
// not all of them can be open at once.
void remove_folder(const fs::path& folder) {
  const worker::FileDescriptor top = opened(AT_FDCWD, folder.c_str());
  if (!top) return;
  fchmod(top.get(), S_IRWXU);
  std::vector<std::string> folders;
  std::size_t moved = 0;
  const auto empty = [&](int from) {
    for (const std::string& name : names_in(from)) {
      if (unlinkat(from, name.c_str(), 0) == 0) continue;
      fchmodat(from, name.c_str(), S_IRWXU, AT_SYMLINK_NOFOLLOW);  // without it, it cannot be moved
      std::string new_name;
      do {
        new_name = "folder." + std::to_string(++moved);
      } while (renameat2(from, name.c_str(), top.get(), new_name.c_str(), RENAME_NOREPLACE) != 0 && errno == EEXIST);
      folders.push_back(std::move(new_name));
    }
  };
  empty(top.get());
  while (!folders.empty()) {
    const std::string name = std::move(folders.back());
    folders.pop_back();
    if (const worker::FileDescriptor one = opened(top.get(), name.c_str())) empty(one.get());
    unlinkat(top.get(), name.c_str(), AT_REMOVEDIR);
  }
  rmdir(folder.c_str());
}

worker::FileDescriptor locked(const fs::path& folder) {
  worker::FileDescriptor file = opened(AT_FDCWD, folder.c_str());
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
