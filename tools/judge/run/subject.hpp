// Subject: whatever is judged. The suite sees no more of it than its claims and what it answers to calls.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tools/judge/call/call.hpp"
#include "tools/judge/call/claims.hpp"
#include "tools/judge/call/outside_access.hpp"
#include "tools/judge/call/sanitizer_tool.hpp"

namespace rope {

enum class ReplyKind {
  done,        // status is what the kernel returned
  crashed,     // the process that held the kernel died
  timed_out,   // no answer within the deadline; the process was killed
  misbehaved,  // the kernel broke the rules of the worker, for example wrote to a read-only input
  missing,     // the answer is to come from a file, and there is none
  malformed    // the file is there and holds something else than the array that was asked for
};

struct Reply {
  ReplyKind kind = ReplyKind::done;
  std::int32_t status = ROPE_OK;  // rope_status, where kind is done
  std::string detail;             // a sentence for a person; empty where all is well, or a note on how it came about
  std::int64_t nanoseconds = 0;   // of the kernel alone
  std::optional<OutsideAccess> access = std::nullopt;  // the one that `detail` tells of
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

  // Begins anew, in a process that has seen no call. False where the subject cannot.
  virtual bool renew() { return false; }

  // How many processes of the kernel's ended, or had to be killed, in the middle of a call. Each has cost the start of
  // another one.
  virtual std::int64_t deaths() const { return 0; }

  // apply() with each tensor against the inaccessible page before it, not behind it, where the subject has such pages.
  virtual Reply apply_at_start(Call& call) { return apply(call); }

  // As apply(call), while `companion` runs again and again on a second thread of the same process; the companion comes
  // back as it was. What a run beside it got otherwise than a run alone is preferred for the outputs. nullopt: this
  // subject cannot run two calls at once.
  virtual std::optional<Reply> apply_concurrently(Call& /*call*/, Call& /*companion*/) { return std::nullopt; }

  // The calls one after the other in a process of their own, under a tool of compute-sanitizer. What is in their
  // outputs then means nothing. Undecided where the tool cannot watch the subject.
  virtual SanitizerReport apply_under(SanitizerTool /*tool*/, std::span<Call> /*calls*/) {
    return {false, "compute-sanitizer cannot watch this subject"};
  }
};

}  // namespace rope
