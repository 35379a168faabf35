// Theta of each pair, kept from one hypothesis to the next: each call is computed once for each of them, nearly always
// with the same frequencies.
#pragma once

#include <vector>

#include "reference/scaling/rules.hpp"

namespace rope::diagnosis {

// As frequencies<long double>(), in radians a position. Valid until the thread's next call.
const std::vector<long double>& kept_frequencies(const Scaling& rule, const scaling::Setting& setting);

}  // namespace rope::diagnosis
