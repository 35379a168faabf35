// What is known from anything else than values: answers, crashes, what was written where, state, and which requirements
// failed. Each maps to a class of the catalogue with a sentence of its own.
#pragma once

#include <vector>

#include "tests/diagnosis/weigh.hpp"

namespace rope::diagnosis {

// A cause with the requirements that point to it.
struct Pointer {
  Candidate candidate;
  std::vector<std::string> requirements;
};

// From which requirements fail, and for which rule of scaling; those that say most first.
std::vector<Pointer> from_requirements(const SubjectReport& report, const Observations& seen, Examiner& examiner);

// From cases that were not answered at all; none where there are none.
std::vector<Pointer> from_answers(const SubjectReport& report, const Observations& seen);

// Whether the failing cases hold in a process that has seen no other call.
bool depends_on_earlier_calls(const SubjectReport& report, const Observations& seen, Examiner& examiner);

// Whether calls that are the same give other bits each time.
bool is_irregular(const SubjectReport& report, const Observations& seen, Examiner& examiner);

// Whether everything that failed has inputs of an unusual size, while others hold.
bool needs_unusual_inputs(const Observations& seen);

}  // namespace rope::diagnosis
