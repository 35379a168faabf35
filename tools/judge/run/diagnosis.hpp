// What a failing kernel computes instead, as far as the evidence shows. Data only: tools/diagnose makes it, reports
// print it.
#pragma once

#include <string>
#include <vector>

#include "tools/judge/run/bug_class.hpp"

namespace rope {

// One cause that was tested against the evidence.
struct Candidate {
  BugClass bug_class{};
  std::string sentence;   // what the kernel computes instead
  std::string condition;  // when: "only in place"; empty: whenever it makes a difference
  double fit = 0;         // 0 .. 1: the share of wrong rows that it explains, less its wrong predictions
};

struct Diagnosis {
  std::vector<Candidate> candidates;  // best first; empty: nothing known explains the evidence
  bool certain = false;               // the first explains all evidence, and no other class fits as well
  std::string evidence;               // the evidence for the first: counts
  // The executed plan: how the kernel was called, and how the plan differs. Empty: no difference was measured.
  std::vector<std::string> plan;
  std::string trigger;                   // the smallest set of circumstances that fails; empty: none was isolated
  std::vector<std::string> explained;    // failed requirements that the first candidate explains
  std::vector<std::string> unexplained;  // the other ones that failed

  const Candidate* first() const { return candidates.empty() ? nullptr : &candidates.front(); }
};

}  // namespace rope
