// How long a plan will take on this machine, from a few calls of each sweep.
#pragma once

#include "tools/certify/plan.hpp"
#include "tools/judge/run/subject.hpp"

namespace rope::certify {

// Seconds of one process, one number a sweep. Takes a second, or one sweep of each sort.
std::vector<double> estimated_seconds(const Plan& plan, Subject& subject);

}  // namespace rope::certify
