// Evidence other than values: answers, crashes, writes and where they went, state, and which requirements
// failed. Each maps to a class of the catalogue with its own sentence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/diagnose/weigh.hpp"
#include "tools/judge/run/diagnosis.hpp"

namespace rope::diagnosis {

// A cause and the requirements that point to it.
struct Pointer {
  Candidate candidate;
  std::vector<std::string> requirements;
  std::string quoted;     // the failure's first line, if the sentence quotes it; else empty
  bool is_guess = false;  // the sentence says more than what was seen
};

// The sentence for results that differ each time, shown by a requirement or by a repetition.
inline constexpr char different_each_time[] =
    "the same call gives different results each time: a race, or uninitialised memory";

inline constexpr char changed_by_each_call[] =
    "each call changes what the next one uses: the same call, repeated, gives other results";

// Whether a requirement failed by its values. A call that ends its process fails every requirement, and a call that
// writes where it must not fails most. So such a failure says nothing about this requirement.
bool fails_by_value(const RequirementResult& r);

// The requirement of this id, if it failed by its values; else nullptr.
const RequirementResult* failed_by_value(const SubjectReport& report, std::string_view id);

// Pointers from the failed requirements and from the scaling rules that fail, the most telling first.
std::vector<Pointer> from_requirements(const SubjectReport& report, const Observations& seen, Examiner& examiner);

// From failures that need earlier calls: what these leave behind; nullopt if there are none.
std::optional<Pointer> from_state(const SubjectReport& report, Examiner& examiner);

// From accepted faults; nullopt if every wrong call was refused.
std::optional<Pointer> from_faults(const SubjectReport& report, Examiner& examiner);

// From cases and requirements in which the kernel raised; nullopt if there are none.
std::optional<Pointer> from_exceptions(const SubjectReport& report, const Observations& seen);

// From cases that were not answered for another reason; nullopt if there are none.
std::optional<Pointer> from_answers(const SubjectReport& report, const Observations& seen);

// Whether the failing cases hold in a process that has seen no other call.
bool depends_on_earlier_calls(const SubjectReport& report, const Observations& seen, Examiner& examiner);

// What a call gives when it is repeated.
enum class Repeated {
  same,       // the same bits
  changing,   // other bits, which two new processes give alike: each call changes what the next one uses
  irregular,  // other bits each time
};
Repeated repeated(const SubjectReport& report, const Observations& seen, Examiner& examiner);

// Whether all failures have inputs of an unusual size, while others hold.
bool needs_unusual_inputs(const Observations& seen);

}  // namespace rope::diagnosis
