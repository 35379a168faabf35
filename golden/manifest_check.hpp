// What the fields of a golden case promise each other, each of them right by itself.
#pragma once

#include <string>

#include "golden/manifest.hpp"

namespace rope {

// Throws InputError where a layer is missing, or a field and an array, or the shapes of two, contradict each other. A
// judge relies on it and need not look again. `path` says where the case stands.
void check_agreement(const GoldenCase& golden, const std::string& path);

}  // namespace rope
