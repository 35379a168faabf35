// The error model: how far a right kernel's result may lie from the exact one. Tolerances are derived here and nowhere
// else; error_model.md beside this file has the derivation. For a pair of norm r = hypot(a, b) and angle phi:
//
//     |y~ - y| <= lambda * r * (angle * |phi| + arithmetic) + tiny
//
// Never compared in ulp of the result: cancellation makes thousands of ulp legitimate near zero.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/dtype.hpp"
#include "reference/rope_spec.hpp"

namespace rope {

// How a kernel comes by its angles.
enum class AngleGrade {
  A,  // exact at every position
  B,  // theta and phi in the working precision, each computed directly
  C   // theta by repeated multiplication, or by exp and log, in the working precision; f64: vectorised sin and cos
};
// The cost of storage narrower than the working type (16 bits; f32 for f64 input). Else all three are the same.
enum class ArithmeticGrade {
  one,   // working precision inside, one final rounding
  two,   // cos and sin rounded to the storage type, everything else in working precision
  three  // every operation rounded to the storage type
};
inline constexpr std::size_t angle_grades = 3;
inline constexpr std::size_t arithmetic_grades = 3;

struct Grade {
  AngleGrade angle = AngleGrade::C;
  ArithmeticGrade arithmetic = ArithmeticGrade::three;
  friend bool operator==(const Grade&, const Grade&) = default;
};

std::string name(Grade grade);                           // "A1" .. "C3"
std::optional<Grade> grade_from_name(std::string_view);  // nullopt for any other word

// Where the angles of a call come from, as far as errors are concerned.
enum class AngleKnowledge {
  tables,       // cos and sin given: no angle error
  frequencies,  // theta given: one product
  computed      // base and scaling rule given
};

struct BoundSetting {
  AngleKnowledge knowledge = AngleKnowledge::tables;
  DType input = DType::f32;   // of x
  DType output = DType::f32;  // of y
  DType given = DType::f32;   // of the tables or frequencies, if given
  double lambda = 1;
};

// The type in which a kernel works: f64 for f64 input, else f32.
DType working_type(DType input);

// C of each pair: |theta~/theta - 1| <= C u for theta computed in the working precision by the rule's formula.
std::vector<double> direct_constants(const RopeSpec& spec, std::int64_t sequence_length);
// The largest of three: that, and the same for theta by repeated multiplication with base^(-2/r), or by exp and log.
std::vector<double> loosest_constants(const RopeSpec& spec, std::int64_t sequence_length);

// The bound's terms, in one table for all dtypes and grades. `angle` still depends on the pair, through its constant C.
struct BoundTerms {
  double angle_unit = 0;                               // u of the angle; the factor of |phi| is (C + 1) * angle_unit
  double angle_exact_unit = 0;                         // the same for grade A
  double loose_functions = 0;                          // f64 at grade C: error of sin and cos beyond a good libm's
  double functions_at_any_angle = 0;                   // the same wherever the angle itself may be off; every grade
  std::array<double, arithmetic_grades> arithmetic{};  // table, arithmetic and storage error, relative to lambda * r
  std::array<double, arithmetic_grades> tiny{};        // absolute, from underflow
  double copy = 0;       // of a feature that does not turn, relative to it; 0 if the output type holds every input
  double copy_tiny = 0;  // the same, absolute
};
BoundTerms bound_terms(const BoundSetting& setting);

}  // namespace rope
