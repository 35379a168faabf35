// What can be measured of wrong rows where no hypothesis fits: for each pair the one cos and sin that would make its
// result. It names a class and no more.
#pragma once

#include <optional>

#include "tests/diagnosis/weigh.hpp"

namespace rope::diagnosis {

// The sentence of rows in which all that is wrong was never written: no plan that is executed says more of these.
inline constexpr char never_written[] = "some elements are never written: what should do them was not started";
// Likewise.
inline constexpr char turned_again[] = "some pairs are turned a second time where they stand";

// Its fit is at most 0.5: the class that most of the wrong rows look like.
std::optional<Candidate> measured(const Observations& seen);

}  // namespace rope::diagnosis
