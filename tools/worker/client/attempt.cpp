#include "tools/worker/client/attempt.hpp"

#include <fmt/format.h>

#include "tools/worker/client/no_answer.hpp"

namespace rope::worker {
namespace {

// A kernel that hangs now and then costs a deadline each time. After so many of them, a hang counts at once.
constexpr int most_recovered_hangs = 3;

// If calls of this kernel hung before and this one computed all along, a second try would only cost time.
bool is_certain(const Attempt& hang, const EarlierHangs& earlier) {
  return earlier.recovered >= most_recovered_hangs || (earlier.patience.is_lost() && hang.computed);
}

}  // namespace

Reply settled(const Attempt& first, const TimeLimits& shorter, EarlierHangs& earlier,
              const std::function<Attempt(const TimeLimits&)>& again) {
  if (!first.hung()) return first.reply;
  if (is_certain(first, earlier)) {
    earlier.patience.lose();
    return first.reply;
  }
  Attempt second = again(first.computed ? shorter : first.limits);
  Reply& reply = second.reply;
  if (second.hung()) {
    earlier.patience.lose();
    say_twice(reply);
    return reply;
  }
  ++earlier.recovered;
  reply.succeeded_on_retry = true;
  if (reply.kind == ReplyKind::done && reply.status == ROPE_OK) {
    reply.detail =
        fmt::format("did not return within {}; tried again in a new process, it did", in_seconds(first.limit()));
  }
  return reply;
}

}  // namespace rope::worker
