#include "tools/worker/sandbox/file_rules.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "tools/worker/sandbox/python_paths.hpp"

namespace rope::sandbox {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

bool is_within(const fs::path& path, const fs::path& folder) {
  const auto [rest, end] = std::ranges::mismatch(folder, path);
  return rest == folder.end();
}

bool is_strictly_within(const fs::path& path, const fs::path& folder) {
  return path != folder && is_within(path, folder);
}

// Without links; what does not exist, and the root, is left out.
Paths canonical(const Paths& paths) {
  Paths result;
  for (const fs::path& path : paths) {
    std::error_code absent;
    const fs::path found = fs::canonical(path, absent);
    if (!absent && found != found.root_path()) result.push_back(found);
  }
  return result;
}

class Shown {
 public:
  explicit Shown(const Paths& hidden) : hidden_(hidden) {}

  // All of it, but what is hidden within. Links need no rule: their targets have one.
  void add(const fs::path& path) {
    if (std::ranges::find(hidden_, path) != hidden_.end()) return;
    if (std::ranges::none_of(hidden_, [&](const fs::path& one) { return is_strictly_within(one, path); })) {
      paths_.push_back(path);
    } else {
      add_entries(path, true);
    }
  }

  void add_entries(const fs::path& folder, bool with_dots) {
    std::error_code unreadable;
    for (auto entry = fs::directory_iterator(folder, unreadable); !unreadable && entry != fs::directory_iterator();
         entry.increment(unreadable)) {
      std::error_code gone;
      if (entry->is_symlink(gone)) continue;
      if (with_dots || !entry->path().filename().string().starts_with('.')) add(entry->path());
    }
  }

  Paths take() { return std::move(paths_); }

 private:
  const Paths& hidden_;
  Paths paths_;
};

Paths folders_of(const Paths& paths) {
  Paths folders = canonical(paths);
  std::error_code gone;
  for (fs::path& path : folders) {
    if (!fs::is_directory(path, gone)) path = path.parent_path();
  }
  return folders;
}

Paths devices() {
  Paths result;
  for (const char* name : {"null", "zero", "full", "random", "urandom", "shm", "dri", "kfd", "accel", "dxg"}) {
    result.push_back(fs::path("/dev") / name);
  }
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator("/dev", unreadable)) {
    if (entry.path().filename().string().starts_with("nvidia")) result.push_back(entry.path());
  }
  std::erase_if(result, [](const fs::path& path) { return !fs::exists(path); });
  return result;
}

// /prefix for /prefix/bin/python: its libraries lie beside bin.
fs::path prefix_of(const fs::path& program) {
  const fs::path folder = program.parent_path();
  return folder.filename() == "bin" || folder.filename() == "shims" ? folder.parent_path() : folder;
}

fs::path found_program(const std::string& word, std::string_view path) {
  if (word.find('/') != word.npos) return fs::absolute(word);
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    const fs::path file = fs::absolute(fs::path(folder.empty() ? "." : folder)) / word;
    if (access(file.c_str(), X_OK) == 0) return file;
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
  }
  return {};
}

}  // namespace

FileRules file_rules(const FilePolicy& policy) {
  Paths hidden = canonical(policy.hidden);
  const Paths needed = folders_of(policy.needed);
  for (const fs::path& report : canonical(policy.reports)) {
    if (std::ranges::none_of(needed, [&](const fs::path& one) { return is_within(one, report); })) {
      hidden.push_back(report);
    }
  }
  hidden.emplace_back("/dev");
  Shown shown(hidden);
  shown.add("/");
  for (const fs::path& one : needed) {
    const bool is_hidden = std::ranges::find(hidden, one) != hidden.end();
    const bool is_in_hidden =
        std::ranges::any_of(hidden, [&](const fs::path& folder) { return is_strictly_within(one, folder); });
    if (is_hidden) shown.add_entries(one, false);
    if (is_in_hidden && !is_hidden) shown.add(one);
  }
  Paths writable = policy.writable;
  for (fs::path& device : devices()) writable.push_back(std::move(device));
  return {shown.take(), std::move(writable), {"/"}};
}

Paths needed_paths(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  Paths needed;
  std::error_code unreadable;
  needed.push_back(fs::current_path(unreadable));
  std::string_view path;
  for (const std::string& entry : environment) {
    std::string_view rest = entry;
    rest.remove_prefix(std::min(rest.size(), rest.find('=') + 1));
    if (entry.starts_with("PATH=")) path = rest;
    while (!rest.empty()) {
      const std::string_view one = rest.substr(0, rest.find(':'));
      if (one.starts_with('/')) needed.emplace_back(one);
      // Of pyenv: scripts that start programs beside their folder.
      if (one.starts_with('/') && one.ends_with("/shims")) needed.push_back(needed.back().parent_path());
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    }
  }
  const fs::path program = found_program(arguments.front(), path);
  std::error_code absent;
  for (const fs::path& file : {program, fs::canonical(program, absent)}) {
    if (file.empty()) continue;
    const fs::path prefix = prefix_of(file);
    needed.insert(needed.end(), {file.parent_path(), prefix});
    for (fs::path& one : python_paths(prefix)) needed.push_back(std::move(one));
  }
  for (const std::string& word : arguments) {
    if (fs::exists(word, absent)) needed.push_back(fs::absolute(word));
  }
  return needed;
}

}  // namespace rope::sandbox
