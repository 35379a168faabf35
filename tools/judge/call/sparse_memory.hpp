// Memory of which only the end exists: for tables whose last rows lie beyond 2^31 and 2^32 bytes.
#pragma once

#include <cstddef>

#include "tools/judge/call/shared_bytes.hpp"

namespace rope {

// So many bytes. Those before `absent` are zeros that take no memory and cannot be written; the others can. Throws
// NoRoom (row_placement.hpp) if the system provides no address space.
SharedBytes sparse_bytes(std::size_t size, std::size_t absent);

}  // namespace rope
