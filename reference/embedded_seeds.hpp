// Seeds of the angle table for the most common plans, computed by MPFR when the project is built (embed_seeds.cpp).
// They speed up the cold start. Without them a first table of four rows takes about 0.1 ms, which is longer than code
// takes that rounds every angle.
#pragma once

#include <span>
#include <vector>

#include "reference/exact_angle.hpp"

namespace rope {

// Positions below 2^seed_bits are composed from seeds.
inline constexpr int seed_bits = 24;

// exact_angle(theta, 2^k) for k = 0 .. seed_bits-1 if theta equals an embedded one to the last bit; else empty.
std::span<const Angle> embedded_seeds(const Real& theta);

// base^(-2p/rotary_dim), p = 0 .. rotary_dim/2-1, rounded to Real as scaling::unscaled() does; empty if the plan is not
// embedded.
std::vector<Real> embedded_frequencies(double base, int rotary_dim);

}  // namespace rope
