// The report as JSON, schema report.schema.json: the source of truth for every other report.
#pragma once

#include <string>

#include "tools/report/words.hpp"

namespace rope {

std::string json_report(const RunReport& run);

}  // namespace rope
