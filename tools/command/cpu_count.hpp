// The CPUs that this process may use.
#pragma once

#include <cstddef>

namespace rope {

std::size_t cpu_count();

}  // namespace rope
