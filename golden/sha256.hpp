// SHA-256, FIPS 180-4. Sixty lines of our own: libssl would be the largest dependency of a suite that others install,
// for one function that is fast enough at 250 MB/s for a few megabytes of golden files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace rope {

// The digest as 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> message);

}  // namespace rope
