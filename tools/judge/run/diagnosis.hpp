// What a failing kernel computes instead, as far as the evidence says. Data only: tools/diagnose makes it, reports
// write it down.
#pragma once

#include <string>
#include <vector>

#include "tools/judge/run/bug_class.hpp"

namespace rope {

// One cause that was held against the evidence.
struct Candidate {
  BugClass bug_class{};
  std::string sentence;   // what the kernel computes instead
  std::string condition;  // when: "only in place"; empty: whenever it makes a difference
  double fit = 0;         // 0 .. 1: share of what is wrong that it explains, less what it predicts wrongly
};

struct Diagnosis {
  std::vector<Candidate> candidates;  // best first; empty: nothing known explains what was seen
  bool certain = false;               // the first explains all that was seen, and no other class fits as well
  std::string evidence;               // what the first was held against: counts
  // The plan that it executes: how it was asked, and what it does otherwise. Empty: no difference was measured.
  std::vector<std::string> plan;
  std::string trigger;                   // the smallest set of circumstances that fails; empty: none was isolated
  std::vector<std::string> explained;    // requirements whose failure the first candidate accounts for
  std::vector<std::string> unexplained;  // the other ones that failed

  const Candidate* first() const { return candidates.empty() ? nullptr : &candidates.front(); }
};

}  // namespace rope
