#include "tools/worker/sandbox/refused_calls.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "tools/worker/sandbox/call_filter.hpp"

namespace rope::sandbox {

RefusedCalls::RefusedCalls() : file_(memfd_create("refused-calls", MFD_CLOEXEC)) {
  if (!file_ || ftruncate(file_.get(), sizeof(Refusals)) != 0) return;
  void* const memory = mmap(nullptr, sizeof(Refusals), PROT_READ, MAP_SHARED, file_.get(), 0);
  if (memory != MAP_FAILED) seen_ = static_cast<Refusals*>(memory);
}

RefusedCalls::~RefusedCalls() {
  if (seen_ != nullptr) munmap(seen_, sizeof(Refusals));
}

void RefusedCalls::forget() {
  if (seen_ != nullptr) forgotten_ = __atomic_load_n(&seen_->count, __ATOMIC_ACQUIRE);
}

std::string RefusedCalls::last() const {
  if (seen_ == nullptr || __atomic_load_n(&seen_->count, __ATOMIC_ACQUIRE) == forgotten_) return "";
  return name_of_call(__atomic_load_n(&seen_->last, __ATOMIC_RELAXED));
}

}  // namespace rope::sandbox
