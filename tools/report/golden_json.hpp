// What `ropecheck golden verify` found, as JSON; schema golden_report.schema.json.
#pragma once

#include <span>
#include <string>

#include "tools/judge/run/golden_report.hpp"
#include "tools/report/words.hpp"

namespace rope {

std::string_view name(GoldenVerdict verdict);  // "bit for bit"

// Where a call's angles came from, in words: "stored tables".
std::string_view golden_source_words(AngleSource source);

// `begun` says when and where; its subjects are not read. `interrupted`: not every subject and case is among the reports.
std::string golden_json(std::span<const GoldenReport> reports, const RunReport& begun, bool interrupted);

}  // namespace rope
