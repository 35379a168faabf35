// Stopping a run from outside. A signal handler asks for it; whoever waits for a kernel waits for this, too.
#pragma once

#include <atomic>

namespace rope {

// Ends what is going on. No std::exception: who handles errors must not take it for one.
struct Interrupted {};

class Stop {
 public:
  Stop();
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;
  ~Stop();

  // From any thread or signal handler. False if a stop was requested before.
  bool request() noexcept;
  bool requested() const noexcept { return requested_; }
  int descriptor() const noexcept { return descriptor_; }  // readable from the request on

 private:
  std::atomic<bool> requested_{false};
  int descriptor_;
};

// Null: nobody can stop it.
inline bool is_requested(const Stop* stop) { return stop != nullptr && stop->requested(); }
inline void throw_if_requested(const Stop* stop) {
  if (is_requested(stop)) throw Interrupted();
}

}  // namespace rope
