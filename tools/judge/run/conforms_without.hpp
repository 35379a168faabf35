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
  // Of many that pass, every second, fourth, .. is kept; each stands for so many.
  struct OfRequirement {
    std::vector<Case> failing, passing;
    std::int64_t noted = 0;  // that passed
    std::int64_t stride = 1;
  };

  void note(const Case& c, bool passed);  // from any thread
  const OfRequirement& of(const std::string& requirement) const;
  // Without the requirements whose results the report has dropped.
  void add_to(std::vector<Case>& failing, std::vector<Case>& passing, const SubjectReport& report) const;

 private:
  std::mutex mutex_;
  std::map<std::string, OfRequirement> by_requirement_;
};

// Looks for such claims, and judges the kernel once more without them, with other random cases: what failed, then all
// else that had cases. For positions it looks for the limit, from one call to the next. The result is nullopt if a
// requirement fails again, or if it has no case any more and is not about a feature that was dropped. It is nullopt, too,
// if so many cases could hold by chance, because few of those that needed the claims failed.
// `options` are the run's.
std::optional<ConformsWithout> conforms_without(const SubjectReport& report, const JudgedCases& judged,
                                                Subject& subject, Oracles& oracles,
                                                std::span<const Requirement> requirements, SuiteOptions options);

}  // namespace rope
