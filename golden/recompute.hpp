// The output of a golden case from its own tables, by its own rounding rule. The result equals the stored bits,
// measured over every case. So a difference means a damaged file or a new version of a source, never noise.
#pragma once

#include <string_view>

#include "golden/manifest.hpp"

namespace rope {

// input: "q" or "k". Throws std::invalid_argument for cases with the rule `printed`, which nobody can recompute.
NpyArray recompute_output(const Manifest& manifest, const GoldenCase& golden, std::string_view input);

}  // namespace rope
