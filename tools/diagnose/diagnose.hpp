// The diagnosis of one subject from its report. README.md beside this file says how evidence is weighed.
#pragma once

#include <chrono>
#include <optional>

#include "tools/judge/run/suite.hpp"

namespace rope::diagnosis {

// nullopt if nothing failed. Runs the subject again; from `end` on it gathers no more evidence. Throws Interrupted once
// `stop` is requested.
std::optional<Diagnosis> diagnose(const SubjectReport& report, Subject& subject, Oracles& oracles,
                                  const Manifest* golden,
                                  std::optional<std::chrono::steady_clock::time_point> end = {},
                                  const Stop* stop = nullptr);

}  // namespace rope::diagnosis
