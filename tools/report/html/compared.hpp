// The page of a comparison.
#pragma once

#include <string>
#include <string_view>

#include "tools/report/comparison.hpp"

namespace rope::html {

std::string page_of(const Comparison& comparison, std::string_view version);

}  // namespace rope::html
