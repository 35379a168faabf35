// How long a plan will take on this machine, from a few calls of each sweep.
#pragma once

#include "tools/certify/plan.hpp"
#include "tools/judge/run/subject.hpp"

namespace rope::certify {

// Seconds of one process, one number a sweep. `claimed`: how many elements of each the claims cover; only these are
// called. Takes a second, or one sweep of each sort.
std::vector<double> estimated_seconds(const Plan& plan, const std::vector<std::int64_t>& claimed, Subject& subject);

}  // namespace rope::certify
