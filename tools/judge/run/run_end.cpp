#include "tools/judge/run/run_end.hpp"

#include <new>

namespace rope {

void RunEnd::note_error(std::size_t task) {
  const std::scoped_lock lock(mutex_);
  if (task >= task_) return;
  error_ = std::current_exception();
  task_ = task;
}

std::string RunEnd::words() const try {
  throw_error();
  return "";
} catch (const std::bad_alloc&) {
  return "ropecheck's own memory is used up";
} catch (const std::exception& error) {
  return error.what();
}

}  // namespace rope
