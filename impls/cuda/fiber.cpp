#include "impls/cuda/fiber.hpp"

#include <sys/mman.h>

#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define ROPE_WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ROPE_WITH_ASAN 1
#endif
#endif

#ifdef ROPE_WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace rope::grid {
namespace {

constexpr std::size_t guard_bytes = 65536;  // at the lower end, as large as the largest page size
constexpr std::size_t stack_bytes = 262144;

#ifdef ROPE_WITH_ASAN
void start_switch(void** save, const void* stack, std::size_t size) {
  __sanitizer_start_switch_fiber(save, stack, size);
}
void finish_switch(void* saved, const void** from, std::size_t* size) {
  __sanitizer_finish_switch_fiber(saved, from, size);
}
// Clears the poison that the frames of an unfinished fiber left behind.
void forget(const void* stack, std::size_t size) { ASAN_UNPOISON_MEMORY_REGION(stack, size); }
#else
void start_switch(void**, const void*, std::size_t) {}
void finish_switch(void*, const void**, std::size_t*) {}
void forget(const void*, std::size_t) {}
#endif

}  // namespace

Fiber::Fiber(void (*entry)()) {
  void* const mapping = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  mprotect(mapping_, guard_bytes, PROT_NONE);
  getcontext(&context_);
  context_.uc_stack.ss_sp = mapping_ + guard_bytes;
  context_.uc_stack.ss_size = stack_bytes;
  context_.uc_link = nullptr;
  makecontext(&context_, entry, 0);
}

Fiber::~Fiber() {
  forget(mapping_ + guard_bytes, stack_bytes);
  munmap(mapping_, guard_bytes + stack_bytes);
}

void Fiber::resume(Scheduler& scheduler) {
  start_switch(&scheduler.fake_stack, mapping_ + guard_bytes, stack_bytes);
  swapcontext(&scheduler.context, &context_);
  finish_switch(scheduler.fake_stack, nullptr, nullptr);
}

void Fiber::leave(Scheduler& scheduler) {
  start_switch(&fake_stack_, scheduler.stack, scheduler.stack_size);
  swapcontext(&context_, &scheduler.context);
  finish_switch(fake_stack_, &scheduler.stack, &scheduler.stack_size);
}

void Fiber::entered(Scheduler& scheduler) { finish_switch(nullptr, &scheduler.stack, &scheduler.stack_size); }

}  // namespace rope::grid
