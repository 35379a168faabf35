// Which claims keep a kernel from conforming, if it fails only where they are needed.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/judge/run/suite.hpp"

namespace rope {

// The cases that a run has decided, as far as they are needed here. They are kept by requirement: in what order several
// threads note them makes no difference.
class JudgedCases {
 public:
  void note(const Case& c, bool passed);  // from any thread
  // Without the requirements whose results the report has dropped.
  void add_to(std::vector<Case>& failing, std::vector<Case>& passing, const SubjectReport& report) const;

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<Case>> failing_, passing_;
};

// Looks for such claims, and judges the requirements that failed once more without them. nullopt: there are none, or
// one of the requirements fails again. `options` are the run's.
std::optional<ConformsWithout> conforms_without(const SubjectReport& report, const JudgedCases& judged,
                                                Subject& subject, Oracles& oracles,
                                                std::span<const Requirement> requirements, SuiteOptions options);

}  // namespace rope
