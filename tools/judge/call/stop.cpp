#include "tools/judge/call/stop.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace rope {

Stop::Stop() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Stop::~Stop() { close(descriptor_); }

bool Stop::request(StopReason reason) noexcept {
  StopReason none = StopReason::none;
  if (!reason_.compare_exchange_strong(none, reason)) return false;
  const int interrupted = errno;  // of the code that a signal interrupts
  eventfd_write(descriptor_, 1);
  errno = interrupted;
  return true;
}

}  // namespace rope
