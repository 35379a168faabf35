// README.md of an export: what whoever answers its calls has to know, also without ropecheck at hand.
#pragma once

#include <string>

#include "tools/vectors/manifest.hpp"

namespace rope::vectors {

std::string readme_of(const Vectors& exported);

}  // namespace rope::vectors
