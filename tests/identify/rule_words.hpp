// A base and scaling rule in words.
#pragma once

#include <string>

#include "reference/rope_spec.hpp"

namespace rope {

// "base 10000", "linear, factor 4, base 10000"
std::string rule_words(const RopeSpec& spec);

}  // namespace rope
