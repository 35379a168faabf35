// Where the golden files are.
#pragma once

#include <filesystem>
#include <optional>

#include "golden/manifest.hpp"

namespace rope {

// ROPECHECK_GOLDEN if it is set, else golden/ of the program's files. None if there is none. Throws InputError if the
// manifest is wrong.
std::optional<Manifest> find_golden();

// Checks every file of the manifest: hash, dtype and shape. Returns how many there are. 30 ms for ours.
std::size_t check_arrays(const Manifest& golden);

}  // namespace rope
