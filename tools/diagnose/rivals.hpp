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
  Rivals(const SubjectReport& report, const Observations& seen, Examiner& examiner);

  // Cases to run next: on which the best cause and a rival differ. If the best would be called certain, also cases that
  // it calls wrong, and cases that only its condition calls right. Each is named once. `weighed` is sorted, best first.
  std::vector<Case> deciding(const std::vector<Weighed>& weighed, double least_fit);

  // Whether another cause fits as well as the best, and says something else about some case.
  bool has_tie(const std::vector<Weighed>& weighed) const;

 private:
  bool differ(const Weighed& a, const Weighed& b) const;

  std::vector<std::unique_ptr<Observation>> cases_;  // not run
  std::vector<char> named_;
};

}  // namespace rope::diagnosis
