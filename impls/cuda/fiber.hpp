// Stacks of their own for the threads of a block that wait: ucontext, told to AddressSanitizer.
#pragma once

#include <ucontext.h>

#include <cstddef>

namespace rope::grid {

// What a host thread runs on where it runs no fiber.
struct Scheduler {
  ucontext_t context{};
  void* fake_stack = nullptr;  // AddressSanitizer's
  const void* stack = nullptr;
  std::size_t stack_size = 0;
};

class Fiber {
 public:
  // Will run entry(), which must never return. Throws std::bad_alloc where there is no memory for a stack.
  explicit Fiber(void (*entry)());
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // From the scheduler: goes on where the fiber left off, and returns when it leaves again.
  void resume(Scheduler& scheduler);
  // From the fiber: back to the scheduler, until it is resumed.
  void leave(Scheduler& scheduler);
  // The first thing in entry().
  static void entered(Scheduler& scheduler);

 private:
  ucontext_t context_{};
  std::byte* mapping_ = nullptr;
  void* fake_stack_ = nullptr;
};

}  // namespace rope::grid
