// Phase estimation: finds theta from a pair's angles at single positions, which are known up to whole turns.
//
// At position 1 the angle is theta up to whole turns; integer positions cannot tell these apart. Twice the position
// doubles the angle. The estimate so far predicts it well enough to count the turns. The error of the new estimate is
// half the old error (Kitaev, arXiv quant-ph/9511026, has the same argument).
#pragma once

#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "reference/dtype.hpp"

namespace rope {

inline constexpr double whole_turn = 2 * std::numbers::pi;  // radians

// The angles of one pair, radians in (-pi, pi], at the positions of the probe.
using Phases = std::vector<double>;

// The estimate of theta after a position.
struct PhaseStep {
  std::int64_t position = 0;
  double theta = 0;
  double error = 0;  // at most
};

struct PhaseEstimate {
  double theta = 0;          // radians per position, in (-pi, pi]
  double error = 0;          // of theta, at most
  double intercept = 0;      // angle at position 0
  std::int64_t reached = 0;  // the largest position that still fits
  std::vector<PhaseStep> steps;
};

// Positions to probe for phases up to `largest`. Powers of two for the doubling, and their neighbours that no narrow
// type holds, which show whether positions are rounded.
std::vector<std::int64_t> phase_positions(std::int64_t largest, bool any_position);

// Relative error of angles that are computed in f32: grade C of error_model.md, (18 + 1) 2^-24.
constexpr double of_float = 0x1p-19;

// How well one angle is known. `noise`: radians, from the rounding of the outputs. `relative`: times the angle, the
// error of the type in which the kernel computes it.
struct AngleNoise {
  double noise = 0;
  double relative = 0;
  double at(double angle) const;
};

// Estimates theta by doubling. Positions after the first that does not fit are left out.
PhaseEstimate estimate_phase(const std::vector<std::int64_t>& positions, const Phases& phases, const AngleNoise& noise);

// Whether the angle at a position differs from theta's prediction by no more than the noise explains.
bool fits(const PhaseEstimate& estimate, std::int64_t position, double phase, const AngleNoise& noise);

// The position m with phase[p] = intercept[p] + m theta[p] for all pairs. It is found from the slowest pair to the
// fastest. nullopt if no integer fits them all.
std::optional<std::int64_t> effective_position(const std::vector<PhaseEstimate>& pairs,
                                               const std::vector<double>& phase_of_pair, const AngleNoise& noise);

double wrapped(double angle);  // to (-pi, pi]

}  // namespace rope
