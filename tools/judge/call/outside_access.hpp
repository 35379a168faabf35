// An access outside of a tensor's memory.
#pragma once

#include <cstdint>
#include <string>

namespace rope {

struct OutsideAccess {
  std::string tensor;  // as rope_kernel.h names it: "q", "q_out", "cos", "positions"
  bool write = false;
  std::int64_t element = 0;  // of its memory
  bool by_row = false;       // `element` is the row of a table
};

}  // namespace rope
