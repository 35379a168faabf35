// The report as a page of Markdown for CI, such as GitHub's step summary.
#pragma once

#include <cstddef>
#include <string>

#include "tools/report/words.hpp"

namespace rope {

// GitHub drops a summary of more than 1 MiB completely.
inline constexpr std::size_t markdown_limit = 1'000'000;

// At most `limit` bytes, if that is at least a kilobyte. Failures, then subjects, are left out. A line at the beginning
// says how many.
std::string markdown_report(const RunReport& run, std::size_t limit = markdown_limit);

}  // namespace rope
