// e^(i theta), e^(2i theta), e^(4i theta), ..: the seeds of an angle table. Integers of 192 bits compute them, which is
// many times as fast as MPFR. So a table for another base is made from nothing in a tenth of a millisecond.
#pragma once

#include <gmp.h>

#include <array>

#include "reference/exact_angle.hpp"
#include "reference/real.hpp"

namespace rope {

class DoublingAngle {
 public:
  // theta is finite.
  explicit DoublingAngle(const Real& theta);

  // exact_angle(theta, 2^k), where k is the number of earlier calls, below 32. Each component is the nearest
  // double-double to a number within 2^-128 of the exact one.
  Angle next();

  // A number between -4 and 4, in units of 2^-190, by size and sign.
  struct Fixed {
    std::array<mp_limb_t, 3> size{};  // least significant limb first
    bool negative = false;
  };

 private:
  Fixed cos_, sin_;
  bool begun_ = false;
};

}  // namespace rope
