// One entry of an angle table by MPFR: slow (microseconds) and exact. It decides the entries that the fast path cannot.
#pragma once

#include <cstdint>
#include <optional>

#include "reference/double_double.hpp"
#include "reference/real.hpp"

namespace rope {

struct Angle {
  DoubleDouble cos;
  DoubleDouble sin;
};

// cos and sin of magnitude * theta, each the nearest double-double. Each is off by at most u^2/4 with u = 2^-53,
// because the low part is at most u/2 in size and rounded to nearest.
Angle exact_angle(const Real& theta, std::uint64_t magnitude);

// theta = quarters * pi/2 + rest, with |rest| <= pi/4, up to whole turns; rest is the nearest double-double.
struct QuarterTurns {
  DoubleDouble rest;
  unsigned quarters = 0;  // modulo 4
};
// nullopt if |theta| is 2^64 or more, or rest is off by more than 2^-107, relative to it.
std::optional<QuarterTurns> quarter_turns(const Real& theta);

// Rounded once to T (float or double), to nearest even, subnormal results too.
template <class T>
T exact_cos(const Real& theta, std::uint64_t magnitude);
template <class T>
T exact_sin(const Real& theta, std::uint64_t magnitude);

}  // namespace rope
