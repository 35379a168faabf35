#include "tools/worker/sandbox/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <system_error>

#include "tools/worker/sandbox/call_filter.hpp"
#include "tools/worker/sandbox/environment.hpp"
#include "tools/worker/sandbox/file_rules.hpp"
#include "tools/worker/sandbox/landlock.hpp"

namespace rope::sandbox {
namespace {

namespace fs = std::filesystem;

fs::path home() {
  if (const char* variable = std::getenv("HOME"); variable != nullptr && *variable != '\0') return variable;
  const passwd* user = getpwuid(geteuid());
  return user == nullptr ? "" : user->pw_dir;
}

std::string option_words(Namespaces namespaces, const Sandbox::Numbers& numbers) {
  return fmt::format("namespaces={} told={} life={} ruleset={} filter={} refusals={} writable={}",
                     static_cast<int>(namespaces), numbers.told, numbers.life, numbers.ruleset, numbers.filter,
                     numbers.refusals, numbers.writable);
}

worker::FileDescriptor in_memory(const char* name, std::span<const std::byte> bytes) {
  worker::FileDescriptor file(memfd_create(name, MFD_CLOEXEC));
  if (!file || write(file.get(), bytes.data(), bytes.size()) != std::ssize(bytes)) return {};
  return file;
}

void wait_for(pid_t pid) {
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Entered read_told(const worker::FileDescriptor& told) {
  Entered entered;
  Message message{};
  for (;;) {
    const ssize_t count = read(told.get(), &message, sizeof message);
    if (count < 0 && errno == EINTR) continue;
    if (count != sizeof message) return entered;
    if (message.what == Told::init) {
      entered.init = message.number;
    } else if (message.what == Told::worker) {
      entered.worker = message.number;
    } else {
      entered.failure = message;
    }
  }
}

std::string words_of(const Message& failure) {
  const auto step = [&] {
    switch (failure.what) {
      case Told::namespaces_failed: return "namespaces";
      case Told::mounts_failed: return "the files it may change (mounts)";
      case Told::privileges_failed: return "giving up privileges";
      case Told::files_failed: return "the files it may use (Landlock)";
      case Told::calls_failed: return "the calls it may make (seccomp)";
      default: return "its program";
    }
  };
  return fmt::format("{}: {}", step(), std::strerror(failure.number));
}

// Starts a program that does nothing, as a worker is started.
bool Sandbox::can_enter(Namespaces namespaces) const {
  constexpr int told_number = 200, life_number = 201, writable_number = 202;
  int told[2], life[2];
  if (pipe2(told, O_CLOEXEC) != 0) return false;
  const worker::FileDescriptor told_here(told[0]);
  worker::FileDescriptor told_there(told[1]);
  if (pipe2(life, O_CLOEXEC) != 0) return false;
  const worker::FileDescriptor life_there(life[0]);
  worker::FileDescriptor life_here(life[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, told_there.get(), told_number);
  posix_spawn_file_actions_adddup2(&actions, life_there.get(), life_number);
  if (writable_) posix_spawn_file_actions_adddup2(&actions, writable_.get(), writable_number);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = launcher_.string(), options = option_words(
      namespaces, {told_number, life_number, -1, -1, -1, writable_ ? writable_number : -1});
  std::string again = program;
  char* arguments[] = {program.data(), options.data(), again.data(), nullptr};
  char* environment[] = {nullptr};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  told_there.reset();
  const Entered entered = read_told(told_here);
  wait_for(pid);
  if (entered.worker > 0) wait_for(entered.worker);
  life_here.reset();
  if (entered.init > 0) wait_for(entered.init);
  return !entered.failure && (namespaces == Namespaces::none || entered.worker > 0);
}

void Sandbox::find_namespaces() {
  for (const Namespaces one : {Namespaces::processes, Namespaces::users_and_processes}) {
    if (one == Namespaces::processes && geteuid() != 0) continue;
    if (!can_enter(one)) continue;
    namespaces_ = one;
    applied("processes");
    return;
  }
  missing("processes", "the system lets this user make no PID namespace; what a worker leaves behind is looked for");
}

void Sandbox::find_mounts() {
  std::string paths;
  std::vector<fs::path> writable = policy_.allowed;
  writable.insert(writable.end(), {scratch_->path(), "/dev/shm"});
  for (const fs::path& path : writable) {
    std::error_code absent;
    const fs::path found = fs::canonical(path, absent);
    if (!absent) paths += found.string() + '\0';
  }
  writable_ = in_memory("writable", std::as_bytes(std::span(paths)));
  if (!can_enter(namespaces_)) writable_.reset();
}

void Sandbox::prepare() {
  if (prepared_) return;
  applied("environment");
  scratch_.emplace();
  has_launcher_ = access(launcher_.c_str(), X_OK) == 0 && can_enter(Namespaces::none);
  if (has_launcher_) {
    applied("privileges");
    find_namespaces();
    if (namespaces_ != Namespaces::none) find_mounts();
    if (landlock_version() > 0) {
      has_rules_ = true;
      applied("files");
    } else {
      missing("files", "the system has no Landlock (Linux 5.13 or later)");
    }
    const bool keep_signals = namespaces_ == Namespaces::none && landlock_version() < landlock_with_signals;
    if (can_filter_calls()) {
      const std::vector<sock_filter> filter = call_filter({.signals = keep_signals, .attributes = !writable_});
      filter_ = in_memory("filter", std::as_bytes(std::span(filter)));
    }
    if (filter_) {
      applied("calls");
    } else {
      missing("calls", "the system has no seccomp filters, or this machine's calls are unknown");
    }
  } else {
    for (const char* measure : {"privileges", "processes", "files", "calls"}) {
      missing(measure, fmt::format("{} cannot be started", launcher_.string()));
    }
  }
  prepared_ = true;
  if (policy_.mode == Mode::require && !measures_.missing.empty()) {
    const Missing& first = measures_.missing.front();
    throw SandboxError(fmt::format("--sandbox require: {}: {}; use --sandbox on to go on without", first.measure,
                                   first.why));
  }
}

int Sandbox::ruleset_for(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  FilePolicy files;
  files.needed = needed_paths(arguments, environment);
  worker::FileDescriptor& ruleset = rulesets_[files.needed];
  if (ruleset) return ruleset.get();
  files.hidden = {home(), "/run/secrets", "/run/user"};
  files.reports = policy_.reports;
  files.writable = policy_.allowed;
  files.writable.emplace_back(scratch_->path());
  ruleset = landlock_ruleset(file_rules(files));
  return ruleset.get();
}

fs::path Sandbox::scratch() {
  const std::scoped_lock lock(mutex_);
  prepare();
  return scratch_->path();
}

Sandbox::Entry Sandbox::entry(const std::vector<std::string>& arguments, const std::vector<std::string>& added,
                              const Numbers& numbers, bool filtered) {
  const std::scoped_lock lock(mutex_);
  prepare();
  std::vector<std::string> all = own_environment();
  std::erase_if(all, [&](const std::string& entry) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    return std::ranges::any_of(added, [&](const std::string& other) { return other.starts_with(name); });
  });
  Entry entry{arguments, reduced_environment(all, policy_.variables, scratch_->path())};
  entry.withheld = withheld_variables(all, policy_.variables);
  entry.environment.insert(entry.environment.end(), added.begin(), added.end());
  if (!has_launcher_) return entry;
  if (has_rules_) entry.ruleset = ruleset_for(arguments, entry.environment);
  if (filtered) entry.filter = filter_.get();
  if (writable_) entry.writable = writable_.get();
  entry.is_told = true;
  entry.in_namespace = namespaces_ != Namespaces::none;
  entry.tells_refusals = entry.in_namespace && entry.filter >= 0;
  const Numbers given{numbers.told, numbers.life, entry.ruleset < 0 ? -1 : numbers.ruleset,
                      entry.filter < 0 ? -1 : numbers.filter, entry.tells_refusals ? numbers.refusals : -1,
                      entry.writable < 0 ? -1 : numbers.writable};
  entry.arguments.insert(entry.arguments.begin(), {launcher_.string(), option_words(namespaces_, given)});
  return entry;
}

}  // namespace rope::sandbox
