// What a worker made of a call in one attempt, and what follows from it if the call hung.
#pragma once

#include <chrono>
#include <functional>

#include "tools/judge/run/subject.hpp"
#include "tools/worker/client/adaptive_deadline.hpp"
#include "tools/worker/client/work_clock.hpp"

namespace rope::worker {

struct Attempt {
  Reply reply;
  TimeLimits limits{};
  bool computed = false;  // it was too slow, and computed all along
  bool died = false;      // the process has ended

  bool hung() const { return reply.kind == ReplyKind::timed_out; }
  std::chrono::milliseconds limit() const { return computed ? limits.computing : limits.own; }  // that was reached
};

// Of a kernel's calls before this one.
struct EarlierHangs {
  AdaptiveDeadline& patience;  // lost where a call hung for certain
  int recovered = 0;   // calls that hung in one process and not in another
};

// The reply to a call. A hang counts only if a second process hangs in the same call too: it may show only now and
// then. Nothing came back from the first one, so the call's tensors are unchanged. `again` makes the call in another
// process, within `shorter` if the first one computed all along: it compiles no longer.
Reply settled(const Attempt& first, const TimeLimits& shorter, EarlierHangs& earlier,
              const std::function<Attempt(const TimeLimits&)>& again);

}  // namespace rope::worker
