// RotationPlan: the one form that every rope variant is compiled to (README.md, "The one idea"). For each pair, with
// phi = position[axis] * theta:
//
//     y[first]  = lambda * (x[first]  * cos(phi) - x[second] * sin(phi))
//     y[second] = lambda * (x[second] * cos(phi) + x[first]  * sin(phi))
//
// Features that are in no pair pass through. Backward is the same plan with -phi.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reference/real.hpp"

namespace rope {

struct RopeSpec;

struct RotatedPair {
  int first;   // feature index
  int second;  // feature index
  int axis;    // which position coordinate the pair follows
  Real theta;  // angular frequency, radians per position, to 256 bits
};

// xPos (Sun et al., arXiv 2212.10554, eq. 11): pair p is further multiplied by zeta[p]^((position - center)/scale_base)
// for q, and by the inverse of this factor for k.
struct Magnitude {
  std::vector<double> zeta;  // one a pair
  double scale_base;         // positions
  double center;             // position
};

struct RotationPlan {
  int head_dim = 0;
  std::vector<RotatedPair> pairs;
  double lambda = 1;  // attention factor, rounded once to f64, as the kernel contract passes it
  std::optional<Magnitude> magnitude;
};

// The plan of a spec. sequence_length: the number of tokens. Only dynamic NTK and LongRoPE use it.
// Throws InputError if the spec contradicts itself (see validate() in rope_spec.hpp).
RotationPlan compile(const RopeSpec& spec, std::int64_t sequence_length);

// Throws InputError if a frequency is so high that no kernel can be asked for it: above 1000 radians a position.
void check_frequencies(const RotationPlan& plan);

}  // namespace rope
