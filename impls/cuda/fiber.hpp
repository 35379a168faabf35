// A stack for each waiting thread of a block: ucontext, announced to AddressSanitizer.
#pragma once

#include <ucontext.h>

#include <cstddef>

namespace rope::grid {

// The host thread's own stack, used while no fiber runs.
struct Scheduler {
  ucontext_t context{};
  void* fake_stack = nullptr;  // AddressSanitizer's
  const void* stack = nullptr;
  std::size_t stack_size = 0;
};

class Fiber {
 public:
  // Will run entry(), which must never return. Throws std::bad_alloc if there is no memory for a stack.
  explicit Fiber(void (*entry)());
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // From the scheduler: continues where the fiber left off, and returns when it leaves again.
  void resume(Scheduler& scheduler);
  // From the fiber: back to the scheduler, until it is resumed.
  void leave(Scheduler& scheduler);
  // Must be the first statement of entry().
  static void entered(Scheduler& scheduler);

 private:
  ucontext_t context_{};
  std::byte* mapping_ = nullptr;
  void* fake_stack_ = nullptr;
};

}  // namespace rope::grid
