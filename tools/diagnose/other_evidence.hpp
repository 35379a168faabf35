// What is known from anything else than values: answers, crashes, what was written where, state, and which requirements
// failed. Each maps to a class of the catalogue with a sentence of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/diagnose/weigh.hpp"
#include "tools/judge/run/diagnosis.hpp"

namespace rope::diagnosis {

// A cause with the requirements that point to it.
struct Pointer {
  Candidate candidate;
  std::vector<std::string> requirements;
  std::string quoted;  // the first line of the failure that the sentence quotes; empty: it quotes none
};

// What it says that results differ each time, whether a requirement shows it or a repetition.
inline constexpr char different_each_time[] =
    "the same call gives other results each time: a race, or memory that nobody set";

// Whether a requirement failed by what came out. A call that ended its process fails every requirement, and one that
// writes where it must not fails most: that it failed this one says nothing.
bool fails_by_value(const RequirementResult& r);

// The requirement of this id, where it failed so; nullptr: it did not.
const RequirementResult* failed_by_value(const SubjectReport& report, std::string_view id);

// From which requirements fail, and for which rule of scaling; those that say most first.
std::vector<Pointer> from_requirements(const SubjectReport& report, const Observations& seen, Examiner& examiner);

// From faults that are accepted; nullopt where every call that is wrong was refused.
std::optional<Pointer> from_faults(const SubjectReport& report, Examiner& examiner);

// From cases that were not answered at all; nullopt where there are none.
std::optional<Pointer> from_answers(const SubjectReport& report, const Observations& seen);

// Whether the failing cases hold in a process that has seen no other call.
bool depends_on_earlier_calls(const SubjectReport& report, const Observations& seen, Examiner& examiner);

// Whether calls that are the same give other bits each time.
bool is_irregular(const SubjectReport& report, const Observations& seen, Examiner& examiner);

// Whether everything that failed has inputs of an unusual size, while others hold.
bool needs_unusual_inputs(const Observations& seen);

}  // namespace rope::diagnosis
