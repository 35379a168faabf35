// What a failing kernel computes instead, as far as the evidence shows. Data only: tools/diagnose makes it, reports
// print it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/bugs/bug_class.hpp"

namespace rope {

// One cause that was tested against the evidence.
struct Candidate {
  BugClass bug_class{};
  std::string sentence;   // what the kernel computes instead
  std::string condition;  // when: "only in place"; empty: whenever it makes a difference
  double fit = 0;         // 0 .. 1: the share of wrong rows that it explains, less its wrong predictions
};

// The pairs of features of one way to call a kernel: those asked for, and those that the kernel turns.
struct PairsSeen {
  struct Pair {
    int first = 0, second = 0;
    double theta = 0;  // radians per position; NaN: not known
  };
  int head_dim = 0;
  std::vector<Pair> asked, executed;
};

// Which rows of a failing call came out wrong.
struct WrongRows {
  struct Head {
    bool key = false;
    std::int64_t batch = 0, head = 0;
    std::string tokens;  // "..x": the third token is wrong
  };
  std::string call;  // the case as text
  std::vector<Head> heads;
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

  std::optional<PairsSeen> pairs = {};      // where the executed plan differs
  std::optional<WrongRows> wrong_rows = {};  // of the call that shows most of it

  const Candidate* first() const { return candidates.empty() ? nullptr : &candidates.front(); }
};

}  // namespace rope
