// --require: what verify and replay demand.
#pragma once

#include <string>
#include <vector>

#include "tools/judge/case/case_list.hpp"

namespace rope {

// Adds the words to the selection: a grade ("A1") or a demand ("bitwise"). Throws InputError for any other word.
void demand(const std::vector<std::string>& words, Selection& selection);

std::vector<std::string> demand_names();  // all of them

std::string demand_help();

}  // namespace rope
