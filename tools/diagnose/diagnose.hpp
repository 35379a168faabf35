// The diagnosis of one subject from its report. README.md beside this file says how evidence is weighed.
#pragma once

#include "tools/judge/run/suite.hpp"

namespace rope::diagnosis {

// nullopt if nothing failed. Runs the subject again.
std::optional<Diagnosis> diagnose(const SubjectReport& report, Subject& subject, Oracles& oracles,
                                  const Manifest* golden);

}  // namespace rope::diagnosis
