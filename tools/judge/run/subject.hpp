// Subject: whatever is judged. The suite sees only its claims and its answers to calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/judge/call/call.hpp"
#include "tools/judge/call/claims.hpp"
#include "tools/judge/call/outside_access.hpp"
#include "tools/judge/call/raised.hpp"
#include "tools/judge/call/sanitizer_tool.hpp"

namespace rope {

enum class ReplyKind {
  done,        // status is what the kernel returned
  crashed,     // the process that held the kernel died
  timed_out,   // no answer within the deadline; the process was killed
  misbehaved,  // the kernel broke the rules of the worker, for example wrote to a read-only input
  missing,     // the answer should come from a file, which does not exist
  malformed    // the file exists, but does not hold the requested array
};

struct Reply {
  ReplyKind kind = ReplyKind::done;
  std::int32_t status = ROPE_OK;  // rope_status, if kind is done
  std::string detail;             // a sentence for the reader; empty if all is well, or a note on how it was made
  std::int64_t nanoseconds = 0;   // spent in the kernel
  std::optional<OutsideAccess> access = std::nullopt;  // the access in `detail`
  std::string cannot_run = {};  // why no call can run here, and what to do; empty if the worker does not say so
  std::optional<Raised> raised = std::nullopt;  // if the kernel raised instead of answering
  bool succeeded_on_retry = false;  // the call did not return in one process, and did when it was made again in another
  bool breaks_mode = false;  // `detail` is about the thread's floating-point mode
};

class Subject;
using Opener = std::function<std::unique_ptr<Subject>()>;

// Used by one thread at a time.
class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  virtual const std::string& name() const = 0;
  virtual const Claims& claims() const = 0;
  // What a reader should know about the claims, in a sentence; empty: nothing.
  virtual std::string claims_note() const { return ""; }

  // The files whose code the kernel's process has loaded so far; empty if that is this process.
  virtual std::vector<std::string> code_files() const { return {}; }

  // Runs the kernel on the call. Outputs (q and k, if in place) are written into the call's tensors; all other tensors
  // come back unchanged. Never throws because of what the kernel does.
  virtual Reply apply(Call& call) = 0;

  // Starts a new process that has seen no call. False if the subject cannot.
  virtual bool renew() { return false; }

  // Where calls of this subject should have their large inputs; null: anywhere. Valid as long as the subject is.
  virtual TensorMemory* tensor_memory() { return nullptr; }

  // Gives memory back that only large calls need, by a new process if need be. Not while calls belong together.
  virtual void give_back_memory() {}

  // Opens the same kernel once more, independent of this subject. Any thread may call it, even after this subject is
  // gone. Empty: two of it cannot be used at the same time.
  virtual Opener opener() const { return {}; }

  // How many of the kernel's processes ended, or had to be killed, in the middle of a call. Each cost the start of a
  // new one.
  virtual std::int64_t deaths() const { return 0; }

  // apply() with each tensor placed behind the inaccessible page, not before it, if the subject has such pages.
  virtual Reply apply_at_start(Call& call) { return apply(call); }

  // As apply(call), while `companion` runs again and again on a second thread of the same process. The companion comes
  // back unchanged. If a concurrent run differs from a solo run, its outputs are returned. nullopt: this
  // subject cannot run two calls at once.
  virtual std::optional<Reply> apply_concurrently(Call& /*call*/, Call& /*companion*/) { return std::nullopt; }

  // Runs the calls one after the other in their own process, under a tool of compute-sanitizer. Their outputs then mean
  // nothing. Undecided if the tool cannot watch the subject.
  virtual SanitizerReport apply_under(SanitizerTool /*tool*/, std::span<Call> /*calls*/) {
    return {false, "compute-sanitizer cannot watch this subject"};
  }
};

}  // namespace rope
