// A worker's first words: what it says of its kernel and of itself.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/judge/call/claims.hpp"
#include "tools/worker/client/fault_report.hpp"

namespace rope::worker {

struct Hello {
  std::string claims_note;
  AddressSpace space;
  bool guarded = false;                     // tensors lie between pages that are not there
  std::chrono::milliseconds first_call{0};  // how long it asks for
  bool in_caller = false;                   // the kernel's code runs in the process that started this one
};

// Overwrites the claims where they are, since copies of them point to the list of head_dims. Throws SubjectError if
// they cannot be used, and std::exception for whatever else is wrong.
Hello read_hello(const nlohmann::json& words, Claims& claims);

// The kernel's name in the same words. Throws std::exception if there is none, or one that is not text.
std::string shown_name_in(const nlohmann::json& words);

}  // namespace rope::worker
