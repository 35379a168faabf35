// What a subject would have to claim before anything of a selection could be asked of it.
#pragma once

#include <string>

#include "tools/judge/case/case_list.hpp"

namespace rope {

// "interleaved is not claimed": why no ordinary call of the selection is covered. Empty if one is.
std::string missing_claim(const Claims& claims, const Selection& selection);

}  // namespace rope
