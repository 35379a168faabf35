// The sandbox of a run's subjects: a policy goes in, the measures that are applied come out. Each worker is started
// through it. What it protects, and what it does not: docs/security.md.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/worker/protocol/file_descriptor.hpp"
#include "tools/worker/sandbox/entry.hpp"
#include "tools/worker/sandbox/policy.hpp"
#include "tools/worker/sandbox/scratch.hpp"

namespace rope::sandbox {

struct SandboxError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Sandbox {
 public:
  // `launcher` is the program ropecheck_sandbox. Nothing is prepared before the first subject is started.
  Sandbox(Policy policy, std::filesystem::path launcher) : policy_(std::move(policy)), launcher_(std::move(launcher)) {}

  // Numbers of files in the worker.
  struct Numbers {
    int told, life, ruleset, filter, refusals, writable;
  };

  // How a worker enters.
  struct Entry {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    int ruleset = -1;  // to be given under their numbers; -1: none
    int filter = -1;
    int writable = -1;
    std::vector<std::string> withheld = {};  // variables, environment.hpp
    bool is_told = false;  // how the entry goes: read_told()
    bool in_namespace = false;
    bool tells_refusals = false;
  };

  // For a worker that would be started like this; `added` are the variables that its protocol needs. `filtered`: its
  // system calls, where possible. Throws SandboxError if a measure is required and cannot be had.
  Entry entry(const std::vector<std::string>& arguments, const std::vector<std::string>& added, const Numbers& numbers,
              bool filtered);

  // The folder that subjects may write to.
  std::filesystem::path scratch();

  // Whether a worker entered.
  bool was_used() const { return prepared_; }
  const Policy& policy() const { return policy_; }
  const Measures& measures() const { return measures_; }

 private:
  void prepare();
  void find_namespaces();
  void find_mounts();
  bool can_enter(Namespaces namespaces) const;
  int ruleset_for(const std::vector<std::string>& arguments, const std::vector<std::string>& environment);
  void applied(const char* measure) { measures_.applied.emplace_back(measure); }
  void missing(const char* measure, std::string why) { measures_.missing.push_back({measure, std::move(why)}); }

  Policy policy_;
  std::filesystem::path launcher_;
  std::mutex mutex_;
  bool prepared_ = false;
  Measures measures_;
  std::optional<Scratch> scratch_;
  Namespaces namespaces_ = Namespaces::none;
  bool has_launcher_ = false;
  bool has_rules_ = false;
  std::map<std::vector<std::filesystem::path>, worker::FileDescriptor> rulesets_;  // by what the worker needs
  worker::FileDescriptor filter_;
  worker::FileDescriptor writable_;  // none: no mount namespace
};

// What a worker's entry told, until it ended.
struct Entered {
  pid_t init = -1;    // the first process of its namespace
  pid_t worker = -1;  // -1: the process that was started is the worker
  std::optional<Message> failure;
};

Entered read_told(const worker::FileDescriptor& told);

// "the files it may use (Landlock): Operation not permitted"
std::string words_of(const Message& failure);

}  // namespace rope::sandbox
