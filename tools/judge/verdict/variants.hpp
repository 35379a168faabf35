// Permitted variants: claims about a kernel that another right kernel need not share.
#pragma once

#include <string>
#include <vector>

#include "tools/judge/call/claims.hpp"

namespace rope {

// In words, one each: "f32 output for bf16 input", "cos and sin taken in bf16", "data aligned to 64 bytes".
std::vector<std::string> permitted_variants(const Claims& claims);

}  // namespace rope
