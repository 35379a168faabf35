#include "tools/worker/client/adaptive_deadline.hpp"

#include <algorithm>

namespace rope::worker {
namespace {

// One path of a kernel may take some times as long as another for the same bytes, and a busy machine doubles that. The
// kernel fails in any case: one of its calls hung.
constexpr double as_long = 20;
constexpr AdaptiveDeadline::Time least(1.0);  // a busy machine may stop a process for some tenths of a second

}  // namespace

void AdaptiveDeadline::learn(bool first, std::size_t bytes, Time took) {
  const std::lock_guard lock(mutex_);
  Time& slowest = first ? slowest_first_ : slowest_byte_;
  slowest = std::max(slowest, first ? took : took / static_cast<double>(std::max<std::size_t>(bytes, 1)));
}

std::chrono::milliseconds AdaptiveDeadline::after_a_hang(bool first, std::size_t bytes,
                                                         std::chrono::milliseconds usual) const {
  const std::lock_guard lock(mutex_);
  if (first && slowest_first_ == Time::zero()) return usual;
  const Time longest =
      as_long * std::max(first ? slowest_first_ : Time::zero(), slowest_byte_ * static_cast<double>(bytes));
  return std::chrono::ceil<std::chrono::milliseconds>(std::min<Time>(std::max(longest, least), usual));
}

}  // namespace rope::worker
