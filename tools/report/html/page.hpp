// A report as one HTML file that needs nothing else: no network, no other file, no script.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rope::html {

// A page is smaller than this. What does not fit is left out, and a line at the top says what.
inline constexpr std::size_t page_limit = 1'000'000;  // bytes

// The page of what `verify --json`, `vectors verify --json`, `identify --json` or `golden verify --json` wrote. `named`
// names that text in messages. Throws InputError for another text, and for another schema version.
std::string page_of(std::string_view json, const std::string& named = "the report");

}  // namespace rope::html
