// Subject: whatever is judged. The suite sees no more of it than its claims and what it answers to calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/call.hpp"

namespace rope {

// rope_capabilities of impls/rope_kernel.h, with the head_dims copied.
struct Claims {
  rope_capabilities capabilities{};
  std::vector<std::int32_t> head_dims;  // empty: every even one

  bool has(rope_feature feature) const { return (capabilities.features & ROPE_BIT(feature)) != 0; }
};

enum class ReplyKind {
  done,       // status is what the kernel returned
  crashed,    // the process that held the kernel died
  timed_out,  // no answer within the deadline; the process was killed
  misbehaved  // the kernel broke the rules of the worker, for example wrote to a read-only input
};

struct Reply {
  ReplyKind kind = ReplyKind::done;
  std::int32_t status = ROPE_OK;  // rope_status, where kind is done
  std::string detail;             // a sentence for a person; empty where all is well
  std::int64_t nanoseconds = 0;   // of the kernel alone
};

class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  virtual const std::string& name() const = 0;
  virtual const Claims& claims() const = 0;

  // Runs the kernel on the call. Outputs (q and k, where in place) are written into the call's tensors; all other
  // tensors come back as they were. Never throws because of what the kernel does.
  virtual Reply apply(Call& call) = 0;
};

}  // namespace rope
