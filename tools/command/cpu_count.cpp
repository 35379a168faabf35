#include "tools/command/cpu_count.hpp"

#include <sched.h>

namespace rope {

std::size_t cpu_count() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? static_cast<std::size_t>(CPU_COUNT(&allowed)) : 1;
}

}  // namespace rope
