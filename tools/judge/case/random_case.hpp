// Random cases over everything that a case can hold and the claims cover.
#pragma once

#include <rapidcheck/Random.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "tools/judge/call/claims.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// With up to this many elements of q and k, or one row. None if several attempts in a row made nothing that the claims
// cover. `change` adapts each attempt to a requirement before the claims are checked; it may make the case larger.
std::optional<Case> random_case(rc::Random& random, const Claims& claims, std::int64_t most_elements,
                                const std::function<void(Case&)>& change);

// The same with sizes and positions of every order of magnitude.
std::optional<Case> wide_random_case(rc::Random& random, const Claims& claims, std::int64_t most_elements,
                                     const std::function<void(Case&)>& change);

}  // namespace rope
