// Failures in blocks: one mistake makes many requirements fail, most of them with the same smallest case or numbers.
#pragma once

#include <string>
#include <vector>

#include "tools/judge/run/subject_report.hpp"

namespace rope {

struct FailureBlock {
  std::vector<const RequirementResult*> results;  // all show the same as the first
  // Fail with the first one's case, but show something else.
  std::vector<const RequirementResult*> otherwise;
  bool is_explained = false;  // the diagnosis is certain, and all of it follows from its cause

  const RequirementResult& first() const { return *results.front(); }
  std::vector<std::string> others() const;  // ids that show the same
  std::vector<std::string> ids() const;     // all
};

// Of the requirements that failed. The block with the most requirements comes first, then what the diagnosis leaves open.
std::vector<FailureBlock> blocks_of(const SubjectReport& report);

}  // namespace rope
