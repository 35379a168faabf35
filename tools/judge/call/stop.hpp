// Stopping a run from outside. A signal handler asks for it; whoever waits for a kernel waits for this, too.
#pragma once

#include <atomic>

namespace rope {

// Ends what is going on. No std::exception: who handles errors must not take it for one.
struct Interrupted {};

enum class StopReason { none, asked, time_limit, cpu_limit };

class Stop {
 public:
  Stop();
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;
  ~Stop();

  // From any thread or signal handler. False if a stop was requested before.
  bool request(StopReason reason = StopReason::asked) noexcept;
  bool requested() const noexcept { return reason_ != StopReason::none; }
  StopReason reason() const noexcept { return reason_; }  // of the first request
  int descriptor() const noexcept { return descriptor_; }  // readable from the request on

 private:
  std::atomic<StopReason> reason_{StopReason::none};
  int descriptor_;
};

// Null: nobody can stop it.
inline bool is_requested(const Stop* stop) { return stop != nullptr && stop->requested(); }
inline void throw_if_requested(const Stop* stop) {
  if (is_requested(stop)) throw Interrupted();
}

}  // namespace rope
