// Where the golden files are.
#pragma once

#include <filesystem>
#include <optional>

#include "golden/manifest.hpp"

namespace rope {

// ROPECHECK_GOLDEN if it is set, else golden/ beside the program or in source_folder().
// None if there is none. Throws InputError if the manifest is wrong.
std::optional<Manifest> find_golden();

// Checks every file of the manifest: hash, dtype and shape. Returns how many there are. 30 ms for ours.
std::size_t check_arrays(const Manifest& golden);

// The repository, if the program runs in the build folder that it was built in; else empty. An installed program must not
// find a repository that happens to be on the same machine.
std::filesystem::path source_folder();

}  // namespace rope
