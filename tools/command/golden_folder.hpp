// Where the golden files are.
#pragma once

#include <filesystem>
#include <optional>

#include "golden/manifest.hpp"

namespace rope {

// ROPECHECK_GOLDEN where it is set, else golden/ beside the program or in the source tree that it was built from.
// None where there is none. Throws InputError where there is a manifest that is not right.
std::optional<Manifest> find_golden();

std::filesystem::path source_folder();

}  // namespace rope
