// SHA-256, FIPS 180-4, in sixty lines of our own. libssl would be the suite's largest dependency, for one function. At
// 250 MB/s it is fast enough for a few megabytes of golden files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace rope {

// The digest as 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> message);

}  // namespace rope
