// Expectation: what a call must yield, exactly, and how far a right kernel may be from it.
#pragma once

#include <array>
#include <vector>

#include "reference/error_model.hpp"
#include "tests/conformance/call.hpp"
#include "tests/conformance/oracles.hpp"

namespace rope {

// One bound for each pair of grades, [angle][arithmetic].
template <class T>
using PerGrade = std::array<std::array<T, arithmetic_grades>, angle_grades>;

class Expectation {
 public:
  // `spec` is read where angles are computed, and only there; it must agree with the call. `call` must outlive this.
  Expectation(const Call& call, const RopeSpec& spec, Oracles& oracles);

  // The angles that token s of batch b is rotated by, one a pair. Valid until the next call.
  const std::vector<PairAngle>& angles(std::int64_t batch, std::int64_t seq);

  // Feature indices of a pair, the position that it followed at the last angles(), and what any feature outside is: -1.
  int first(std::size_t pair) const;
  int second(std::size_t pair) const;
  std::int64_t position(std::size_t pair) const;
  std::size_t pairs() const { return static_cast<std::size_t>(call_.rotary_dim / 2); }
  bool backward() const { return call_.direction == Direction::backward; }
  double lambda() const { return call_.attention_factor; }

  // The r of the error model: the norm of the pair, times the gain where tables are given.
  double reach(double a, double b, const PairAngle& angle) const;

  // Bounds of the absolute error of each element of a pair with that r.
  PerGrade<double> bounds(std::size_t pair, double phi, double r) const;
  // The loosest of them, which decides.
  double bound(std::size_t pair, double phi, double r) const;

 private:
  double angle_term(AngleGrade grade, std::size_t pair, double phi) const;
  void table_angles();

  const Call& call_;
  Oracle* oracle_ = nullptr;  // null where tables are given
  BoundTerms terms_;
  std::vector<double> direct_;          // C of each pair
  std::vector<double> recurrence_;      // C of each pair by repeated multiplication
  std::vector<std::int64_t> position_;  // one an axis
  std::vector<PairAngle> angles_;
};

// The position of a token on each axis, as the call gives it.
std::vector<std::int64_t> token_position(const Call& call, std::int64_t batch, std::int64_t seq);

}  // namespace rope
