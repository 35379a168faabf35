// Reads text that others wrote: reports, specs, lists.
#pragma once

#include <cstddef>
#include <string>

namespace rope {

// The whole file; "-" is stdin. Throws InputError if it cannot be read, or is longer than any text that is read: "NAMED
// cannot be read: No such file or directory".
std::string read_file(const std::string& path, const std::string& named);
inline std::string read_file(const std::string& path) { return read_file(path, path + ":"); }

// At most so many bytes of it, from the first.
std::string read_start(const std::string& path, const std::string& named, std::size_t most);

}  // namespace rope
