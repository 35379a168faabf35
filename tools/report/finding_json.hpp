// Findings, elements and numbers as JSON; report.schema.json says what each field means.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/judge/verdict/finding.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

using Json = nlohmann::ordered_json;

// JSON has no infinity and no NaN; they are written as the words that strtod reads.
Json json_number(double value);

Json element_json(const Element& e, const Case& c);

Json finding_json(const Finding& finding, const Case& c, const std::string& subject, Grade required = {});

}  // namespace rope
