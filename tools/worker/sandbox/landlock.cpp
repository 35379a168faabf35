#include "tools/worker/sandbox/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace rope::sandbox {
namespace {

// linux/landlock.h of Linux 6.12; older headers lack the newer half.
enum Access : std::uint64_t {
  execute = 1 << 0,
  write_to_file = 1 << 1,
  read_file = 1 << 2,
  read_folder = 1 << 3,
  all_of_version_1 = (1 << 13) - 1,
  refer = 1 << 13,
  truncate_file = 1 << 14
};
enum NetworkAccess : std::uint64_t { bind_tcp = 1 << 0, connect_tcp = 1 << 1 };
enum Scope : std::uint64_t { abstract_sockets = 1 << 0, signals = 1 << 1 };

constexpr int refer_since = 2, truncate_since = 3, network_since = 4;
constexpr unsigned version_wanted = 1 << 0;
constexpr int path_beneath = 1;

struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scoped;
};

struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed;
  std::int32_t parent;
};

constexpr long create_ruleset_call = 444, add_rule_call = 445;  // on every architecture

std::uint64_t all_of(int version) {
  std::uint64_t rights = all_of_version_1;
  if (version >= refer_since) rights |= refer;
  if (version >= truncate_since) rights |= truncate_file;
  return rights;
}

// What is gone or cannot be opened needs no rule.
void allow(int ruleset, const std::filesystem::path& path, std::uint64_t rights) {
  const worker::FileDescriptor opened(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!opened || fstat(opened.get(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode)) rights &= execute | write_to_file | read_file | truncate_file;
  const PathBeneath rule{rights, opened.get()};
  if (syscall(add_rule_call, ruleset, path_beneath, &rule, 0) != 0) {
    throw std::system_error(errno, std::generic_category(), path.string());
  }
}

}  // namespace

int landlock_version() {
  const long version = syscall(create_ruleset_call, nullptr, 0, version_wanted);
  return version < 0 ? 0 : static_cast<int>(version);
}

worker::FileDescriptor landlock_ruleset(const FileRules& rules) {
  const int version = landlock_version();
  const std::uint64_t all = all_of(version);
  RulesetAttributes attributes{all, 0, 0};
  std::size_t size = sizeof attributes.files;
  if (version >= network_since) {
    attributes.network = bind_tcp | connect_tcp;
    size += sizeof attributes.network;
  }
  if (version >= landlock_with_signals) {
    attributes.scoped = abstract_sockets | signals;
    size += sizeof attributes.scoped;
  }
  worker::FileDescriptor ruleset(static_cast<int>(syscall(create_ruleset_call, &attributes, size, 0)));
  if (!ruleset) throw std::system_error(errno, std::generic_category(), "landlock_create_ruleset");
  for (const std::filesystem::path& path : rules.readable) {
    allow(ruleset.get(), path, execute | read_file | read_folder);
  }
  for (const std::filesystem::path& path : rules.writable) allow(ruleset.get(), path, all);
  for (const std::filesystem::path& path : rules.listable) allow(ruleset.get(), path, read_folder);
  return ruleset;
}

}  // namespace rope::sandbox
