// Permitted variants: what a kernel's claims say about it that another right kernel may do otherwise.
#pragma once

#include <string>
#include <vector>

#include "tools/judge/call/claims.hpp"

namespace rope {

// In words, one each: "f32 output for bf16 input", "cos and sin taken in bf16", "data aligned to 64 bytes".
std::vector<std::string> permitted_variants(const Claims& claims);

}  // namespace rope
