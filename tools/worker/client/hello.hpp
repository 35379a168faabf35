// A worker's first words: what it says of its kernel and of itself.
#pragma once

#include <chrono>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/judge/call/claims.hpp"
#include "tools/worker/client/fault_report.hpp"
#include "tools/worker/client/worker_process.hpp"

namespace rope::worker {

struct Hello {
  std::string claims_note;
  AddressSpace space;
  std::chrono::milliseconds first_call{0};  // how long it asks for
  bool in_caller = false;                   // the kernel's code runs in the process that started this one
};

// `claims` gets the kernel's, and what the program can. Throws SubjectError if they cannot be used, and std::exception
// for whatever else is wrong.
Hello read_hello(const nlohmann::json& words, Claims& claims, WorkerProgram kind);

// What the first process of a subject claims: checks are chosen by it. A later one that claims less would get fewer.
class FirstClaims {
 public:
  // From any thread. Throws SubjectError if these are not the first claims, and differ from them.
  void check(const Claims& claims);

 private:
  std::mutex mutex_;
  std::string said_;
};

// The kernel's name in the same words. Throws std::exception if there is none, or one that is not text.
std::string shown_name_in(const nlohmann::json& words);

}  // namespace rope::worker
