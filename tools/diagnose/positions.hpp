// Hypotheses that turn a token by another position.
#pragma once

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis::positions {

using Map = std::function<long double(const RowContext&, int axis, long double)>;

// The position that the call gives to another token, or to the one nearest to it.
long double of(const RowContext& s, int axis, std::int64_t batch, std::int64_t seq);

void add(Hypotheses& all, BugClass bug_class, std::string sentence, Map map, double cost = 0);

}  // namespace rope::diagnosis::positions
