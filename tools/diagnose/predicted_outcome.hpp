// PredictedOutcome: what a cause says of a call, element by element.
#pragma once

#include <vector>

#include "tools/diagnose/weigh.hpp"

namespace rope::diagnosis {

class PredictedOutcome {
 public:
  // Keeps `of`, which need not have been run.
  PredictedOutcome(const Observation& of, const ScoredHypothesis& cause);

  bool differs_from(const PredictedOutcome& other) const;

  // Whether the call must fail.
  bool says_wrong() const;

  // Whether it would call other rows wrong if this were its condition.
  bool would_differ_under(const Condition& other) const;

  // Whether the call was run and did just that.
  bool is_so() const;

 private:
  bool leaves_a_tensor() const;
  std::vector<char> where(const Condition& condition) const;
  bool calls_wrong(const std::vector<char>& elements) const;
  const Prediction& at(std::size_t i) const { return holds_[i] != 0 ? changed_ : of_.right; }

  const Observation& of_;
  Change change_;
  Condition condition_;
  Prediction changed_;
  std::vector<char> holds_;  // the condition, for each element
};

}  // namespace rope::diagnosis
