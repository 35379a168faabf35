// Executed plans as JSON, schema plan.schema.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/identify/executed_plan.hpp"

namespace rope {

struct IdentifiedSubject {
  std::string subject;
  std::vector<ExecutedPlan> plans;  // one for each way of calling it
};

std::string plans_to_json(const std::vector<IdentifiedSubject>& subjects, std::string_view version);

}  // namespace rope
