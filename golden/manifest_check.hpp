// Whether the fields of a golden case, each valid by itself, agree with each other.
#pragma once

#include <string>

#include "golden/manifest.hpp"

namespace rope {

// Throws InputError if a layer is missing, or if a field and an array, or two shapes, contradict each other. A judge
// relies on it and need not check again. `path` names the case.
void check_agreement(const GoldenCase& golden, const std::string& path);

}  // namespace rope
