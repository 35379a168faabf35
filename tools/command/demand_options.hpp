// --require: what verify and replay are asked to demand.
#pragma once

#include <string>
#include <vector>

#include "tools/judge/case/case_list.hpp"

namespace rope {

// Takes the words into the selection: a grade ("A1") or a demand ("bitwise"). Throws InputError for any other.
void demand(const std::vector<std::string>& words, Selection& selection);

std::string demand_help();

}  // namespace rope
