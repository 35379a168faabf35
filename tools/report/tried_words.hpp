// What a run tried, in words.
#pragma once

#include <string>
#include <vector>

#include "tools/judge/run/subject_report.hpp"
#include "tools/report/finding_json.hpp"

namespace rope {

// "f32, tables: positions every one to 65536, then 214 to 2147483647 (claimed: 4294967296); head_dims 2 to 1280 (14);
// tokens 1 to 65537; heads 1 to 65537". Types and sources that tried the same share a line.
std::vector<std::string> tried_lines(const std::vector<Tried>& tried);
// The same; of more than four lines, one for each source with what all of its types tried at least.
std::vector<std::string> few_tried_lines(const std::vector<Tried>& tried);

// "to position 1026": how far the requirement's cases went; empty if none gave results.
std::string reached_words(const RequirementResult& result);

Json tried_json(const std::vector<Tried>& tried);
std::vector<Tried> tried_from_json(const Json& list);

}  // namespace rope
