// Where the golden files are.
#pragma once

#include <filesystem>
#include <optional>

#include "golden/manifest.hpp"

namespace rope {

// ROPECHECK_GOLDEN if it is set, else golden/ of the program's files. None if there is none. Throws InputError if the
// manifest is wrong.
std::optional<Manifest> find_golden();

}  // namespace rope
