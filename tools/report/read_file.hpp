// Reads a report that was written earlier.
#pragma once

#include <string>

namespace rope {

// The whole file; "-" is stdin. Throws InputError if it cannot be read.
std::string read_file(const std::string& path);

}  // namespace rope
