// Horizon: the largest position up to which a kernel's scores depend only on the distance of two tokens. A measurement
// in every report; the verdict does not depend on it.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/judge/case/case_list.hpp"
#include "tools/judge/run/examiner.hpp"

namespace rope {

struct Horizon {
  DType dtype = DType::f32;
  AngleSource source = AngleSource::computed;
  double tolerance = 0;       // of |score' - score| / (|q| |k|)
  std::int64_t position = 0;  // the largest position up to which it held; -1: not even at the smallest one
  std::int64_t tried = 0;     // the largest position that was tried
  double worst = 0;           // the largest deviation up to `position`
  struct Point {
    std::int64_t position;
    double deviation;
  };
  std::vector<Point> curve = {};  // every position that was tried; the last one may be beyond the tolerance
};

inline constexpr std::int64_t farthest_measured = std::int64_t{1} << 40;  // beyond every context length in discussion

// The largest position that is measured: what is claimed, and no more than the model that was asked for has.
std::int64_t last_measured(const Claims& claims, const Selection& selection);

// 1e-3, but for 16-bit storage at least the possible cost of rounding: each of four rows is off by u of its norm.
double horizon_tolerance(DType dtype);

// One for each claimed dtype if the kernel makes the angles itself, from base or from frequencies. With tables the
// suite makes them, so there is nothing to measure.
std::vector<Horizon> measure_horizons(Examiner& examiner, const Selection& selection);

}  // namespace rope
