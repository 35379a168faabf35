// Expectation: the exact result of a call, and how far a right kernel may be from it.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "reference/error_model.hpp"
#include "reference/pair_features.hpp"
#include "tools/judge/call/call.hpp"
#include "tools/judge/call/oracles.hpp"
#include "tools/judge/verdict/row_bounds.hpp"

namespace rope {

// What a kernel may do.
struct Allowed {
  Grade grade;                   // whose bound decides
  bool theta_as_period = false;  // claimed: a given theta may be inverted, which rounds it once more
};

class Expectation {
 public:
  // `spec` is read only if angles are computed; it must agree with the call. `call` must outlive this.
  Expectation(const Call& call, const RopeSpec& spec, Oracles& oracles, Allowed allowed = {});

  // The angles that token s of batch b is rotated by, one per pair. Valid until the next call.
  const std::vector<PairAngle>& angles(std::int64_t batch, std::int64_t seq);

  // A pair's feature indices, and its position at the last angles().
  int first(std::size_t pair) const { return features(pair).first; }
  int second(std::size_t pair) const { return features(pair).second; }
  // Whether a feature of a head is in a pair. The others are copied.
  bool turns(std::int64_t feature) const {
    return feature >= call_.rotary_offset && feature < call_.rotary_offset + call_.rotary_dim;
  }
  std::int64_t position(std::size_t pair) const;
  std::size_t pairs() const { return static_cast<std::size_t>(call_.rotary_dim / 2); }
  bool backward() const { return call_.direction == Direction::backward; }
  double lambda() const { return call_.attention_factor; }
  double theta(std::size_t pair) const;  // 0 if tables are given
  AngleSource source() const { return call_.source; }
  DType given() const;  // dtype of the tables or of theta; f64 if neither is given

  // The error model's r: the norm of the pair, times the gain if tables are given.
  double reach(double a, double b, const PairAngle& angle) const;

  // The same for a pair at the last angles().
  double reach(double a, double b, std::size_t pair) const;

  // Bounds of the absolute error of each element of a pair with that r.
  PerGrade<double> bounds(std::size_t pair, double phi, double r) const;
  // The same at the last angles().
  PerGrade<double> bounds(std::size_t pair, double r) const {
    PerGrade<double> result;
    const double scale = row_bounds_.lambda_size * r;
    for (std::size_t a = 0; a < angle_grades; ++a) {
      for (std::size_t w = 0; w < arithmetic_grades; ++w) {
        result[a][w] = scale * (row_bounds_.angle_terms[a][pair] + terms_.arithmetic[w]) + terms_.tiny[w];
      }
    }
    return result;
  }
  // What they are made of.
  const RowBounds& row_bounds() const { return row_bounds_; }
  // Of the distance to the nearest rotation by any angle, at the deciding grade and the last angles().
  double bound_by_any_angle(std::size_t pair, double r) const;
  // For a feature that does not turn, which is copied.
  double copy_bound(double x) const { return terms_.copy * std::fabs(x) + terms_.copy_tiny; }
  // The deciding bound.
  double bound(std::size_t pair, double phi, double r) const { return bound(angle_term(pair, phi), r); }
  // The same in two steps, for many elements that turn by one angle.
  double angle_term(std::size_t pair, double phi) const { return angle_term(required_.angle, pair, phi); }
  double bound(double angle_term, double r) const {
    const auto w = static_cast<std::size_t>(required_.arithmetic);
    return row_bounds_.lambda_size * r * (angle_term + terms_.arithmetic[w]) + terms_.tiny[w];
  }
  Grade required() const { return required_; }
  // Whether some product of a pair with that r may be larger than the type holds in which the deciding grade lets a
  // kernel compute. Then a result may be infinite, or NaN as the difference of two infinities.
  bool may_overflow(double r, double bound) const { return !(std::fabs(lambda()) * r + bound <= largest_); }

 private:
  PairFeatures features(std::size_t pair) const {
    return pair_features(call_.pairing, call_.rotary_dim, call_.rotary_offset, static_cast<int>(pair));
  }
  double angle_term(AngleGrade grade, std::size_t pair, double phi) const;
  void table_angles();

  const Call& call_;
  std::shared_ptr<Oracle> oracle_;  // null if tables are given
  BoundTerms terms_;
  Grade required_;
  double largest_;                       // number that a kernel of that grade can compute with
  std::vector<double> direct_;           // C of each pair
  std::vector<double> loosest_;          // the same for grade C
  std::vector<std::int64_t> position_;   // one an axis
  std::vector<std::int64_t> angles_of_;  // the position of angles_
  std::vector<PairAngle> angles_;
  std::vector<double> cos_row_, sin_row_;  // of a given table, for table_angles
  RowBounds row_bounds_;                   // at that position; with a gain if tables are given
};

// The position of a token on each axis, as the call gives it.
std::vector<std::int64_t> token_position(const Call& call, std::int64_t batch, std::int64_t seq);

}  // namespace rope
