// From a model to a page, by the templates of this folder.
#pragma once

#include <string>
#include <string_view>

#include "tools/report/html/model.hpp"

namespace rope::html {

// The report that a text holds. Throws InputError if it is none, or of another schema version.
Json read_report(std::string_view json, const std::string& named);

// Fills page.mustache. `data` is the report for machines, or empty.
std::string rendered(Json model, const Json& data);

}  // namespace rope::html
