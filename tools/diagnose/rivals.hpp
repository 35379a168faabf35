// Rivals: causes that fit the evidence as well as the best one. A case on which they differ tells which one is right.
#pragma once

#include <vector>

#include "tools/diagnose/weigh.hpp"

namespace rope::diagnosis {

// A second cause this close to the best cannot be told apart from it. A fit is a share of some hundred rows at most, so
// one row more or less is chance.
constexpr double a_tie = 0.02;

class Rivals {
 public:
  // Keeps all three: `seen` may grow.
  Rivals(const SubjectReport& report, const Observations& seen, Examiner& examiner);

  // Cases to run next: on which the best cause and a rival differ. If the best would be called certain, also cases that
  // it calls wrong, and cases that tell its condition from a part of it and from others that fit as well. Each is named
  // once. `weighed` is sorted, best first.
  std::vector<Case> deciding(const std::vector<ScoredHypothesis>& weighed, double least_fit);

  // Cases that a cause calls wrong, which have little more in common with the failing ones than what it needs.
  std::vector<Case> confirming(const ScoredHypothesis& cause);

  // Whether another cause fits as well as the best, and says something else about some case.
  bool has_tie(const std::vector<ScoredHypothesis>& weighed) const;

  // Whether a limit in a cause's condition may be another one: no case told where it is.
  static bool has_open_limit(const ScoredHypothesis& cause);

 private:
  bool differ(const ScoredHypothesis& a, const ScoredHypothesis& b) const;
  void add_cases_around_limits(const ScoredHypothesis& cause);
  void add_cases_around_sizes(const Literal& literal, void (*set)(Case&, std::int64_t));
  void add_failing_cases(void (*set)(Case&, std::int64_t), std::int64_t value);

  const SubjectReport& report_;
  const Observations& seen_;
  Examiner& examiner_;
  std::vector<std::unique_ptr<Observation>> cases_;  // not run
  std::vector<char> named_;
  std::optional<std::vector<Case>> between_;  // not run
};

}  // namespace rope::diagnosis
