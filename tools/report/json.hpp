// The report as JSON, schema report.schema.json: the source of truth for every other report.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/suite.hpp"

namespace rope {

std::string json_report(const std::vector<SubjectReport>& reports, const std::string& version);

}  // namespace rope
