// Executed plans as JSON, schema plan.schema.json.
#pragma once

#include <string>
#include <vector>

#include "tools/identify/executed_plan.hpp"
#include "tools/report/words.hpp"

namespace rope {

struct IdentifiedSubject {
  std::string subject;
  std::vector<ExecutedPlan> plans;  // one for each way of calling it
};

// `interrupted`: not every subject and way is there.
// `begun` says when and where; its subjects are not read.
std::string plans_to_json(const std::vector<IdentifiedSubject>& subjects, const RunReport& begun,
                          bool interrupted = false);

}  // namespace rope
