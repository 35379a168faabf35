// The requirements as a page of Markdown: what tests/conformance/REQUIREMENTS.md holds.
#pragma once

#include <span>
#include <string>

#include "tools/judge/run/requirement.hpp"

namespace rope {

// Families come in the order of families(); families without a requirement are left out.
std::string requirements_page(std::span<const Requirement> requirements);

}  // namespace rope
