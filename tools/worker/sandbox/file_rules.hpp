// Which files a subject may read and write, as lists of folders: Landlock can only allow.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rope::sandbox {

struct FileRules {
  std::vector<std::filesystem::path> readable;
  std::vector<std::filesystem::path> writable;  // and readable
  // The names of what lies there may be listed, and of all that lies below: Landlock has no right for one folder.
  std::vector<std::filesystem::path> listable;
};

struct FilePolicy {
  std::vector<std::filesystem::path> hidden;    // folders that must not be read: HOME, for example
  std::vector<std::filesystem::path> reports;   // hidden as well, unless something that is needed lies there
  std::vector<std::filesystem::path> needed;    // within a hidden folder, these may be read; of a file, its folder
  std::vector<std::filesystem::path> writable;
};

// Everything may be read but what is hidden, and of /dev only harmless devices and accelerators. If a hidden folder
// itself is needed, its entries without a dot before their name may be read: secrets have one. Names may be listed
// everywhere, because libraries open / as a folder (hwloc takes a machine without it for one without memory).
FileRules file_rules(const FilePolicy& policy);

// What the words and variables of a command name: existing paths in lists with colons, the program's own folders.
std::vector<std::filesystem::path> needed_paths(const std::vector<std::string>& arguments,
                                                const std::vector<std::string>& environment);

}  // namespace rope::sandbox
