// Shared by the cross-checks: calls of every kind, their results pair by pair, and the subjects.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "impls/builtin.hpp"
#include "tests/unit/judge/case/any_case.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/property.hpp"
#include "tools/judge/run/examiner.hpp"
#include "tools/worker/client/library_subject.hpp"

namespace rope::cross_check {

inline constexpr double u = 0x1p-53;  // unit roundoff of f64

// A case that makes a valid call: every spec, pairing, dtype and angle source, positions of every size.
inline Case any_call(std::optional<DType> dtype = {}, std::optional<AngleSource> source = {}) {
  Case c = test::any_case();
  c.dtype = dtype.value_or(c.dtype);
  c.source = source.value_or(c.source);
  if (c.out_dtype != c.dtype) c.out_dtype = c.dtype == DType::f64 ? DType::f64 : DType::f32;
  c.in_place = c.in_place && c.out_dtype == c.dtype;
  if (c.key_heads > 0) c.heads += (c.key_heads - c.heads % c.key_heads) % c.key_heads;  // grouped, as contracts have it
  if (!gives_positions(c.form)) c.pattern = PositionPattern::consecutive;
  if (is_packed(c.form)) {
    c.batch = 1;
  } else {
    c.sequences = 1;
  }
  c.input = InputKind::spread;
  c.fault = Fault::none;
  if (is_distant(c.layout)) c.layout = Layout::strided;  // far ones have their own size
  if (c.layout == Layout::key_strided && c.key_heads == 0) c.layout = Layout::strided;
  if (c.layout == Layout::cached && c.batch < 2) c.layout = Layout::strided;
  if (c.layout == Layout::loose_strides) c.batch = 1;
  if (c.layout == Layout::angles_strided && c.source != AngleSource::tables && !gives_positions(c.form)) {
    c.layout = Layout::strided;
  }
  if (c.output == OutputLayout::key_strided && c.key_heads == 0) c.output = OutputLayout::strided;
  if (c.in_place) c.output = OutputLayout::as_input;
  // Tables hold a row for every position.
  c.start = static_cast<std::int64_t>(test::between(1, c.source == AngleSource::tables ? 500 : 1 << 20)) - 1;
  if (c.source != AngleSource::tables) {
    c.full_tables = false;
    if (c.given != DType::f32) c.given = DType::f64;
  }
  c.unequal_halves = c.unequal_halves && c.full_tables;
  if (c.source != AngleSource::tables) c.spare_rows = 0;
  c.sequence_length = test::coin() ? 0 : largest_position(c) + 1 + *rc::gen::inRange(0, 5000);
  return c;
}

// One pair of one output row: the result, its bound, and the norm of the input times |lambda|.
struct PairResult {
  DoubleDouble first, second;
  double bound = 0;
  double norm = 0;
};

struct Place {
  bool key;
  RowIndex row;
  std::size_t pair;
};

// Every pair of q, then of k, in the same order for all subjects.
template <class Visitor>
void for_each_pair(const Trial& trial, Expectation& expectation, Visitor&& visit) {
  for (const bool key : {false, true}) {
    if (key && !trial.k) continue;
    const Tensor& input = key ? *trial.k : trial.q;
    for_each_row(input, [&](const RowIndex& row, const std::byte*) {
      const std::vector<PairAngle> angles = expectation.angles(row.batch, row.seq);
      for (std::size_t p = 0; p < angles.size(); ++p) {
        const double a = value_at(input, row, expectation.first(p));
        const double b = value_at(input, row, expectation.second(p));
        visit(Place{key, row, p}, a, b, angles[p]);
      }
    });
  }
}

// The built-ins compute their angles in f64 at least: grade A1. For f64 calls that type is not wider, so B1.
inline AngleGrade promised(const Case& c) { return c.dtype == DType::f64 ? AngleGrade::B : AngleGrade::A; }

inline std::vector<PairResult> results_of(const Case& c, const Trial& trial, Oracles& oracles) {
  Expectation expectation(trial.call, c.spec, oracles);
  const auto grade = static_cast<std::size_t>(promised(c));
  std::vector<PairResult> results;
  for_each_pair(trial, expectation, [&](const Place& at, double a, double b, const PairAngle& angle) {
    const Tensor& y = at.key ? trial.call.k_result() : trial.call.q_result();
    const double reach = expectation.reach(a, b, angle);
    results.push_back({{value_at(y, at.row, expectation.first(at.pair)), 0},
                       {value_at(y, at.row, expectation.second(at.pair)), 0},
                       expectation.bounds(at.pair, angle.phi, reach)[grade][0],
                       std::fabs(expectation.lambda()) * reach});
  });
  return results;
}

// error/bound, at most 1 if it holds; infinite for a NaN, and for any error where the bound is 0.
inline double share(double error, double bound) {
  if (error <= bound) return error == 0 ? 0 : error / bound;
  return error / bound > 1 ? error / bound : std::numeric_limits<double>::infinity();
}

using Subjects = std::vector<std::shared_ptr<Subject>>;

inline Subjects builtins() {
  Subjects subjects;
  for (const rope_kernel* kernel : builtin_kernels()) subjects.push_back(std::make_shared<KernelSubject>(*kernel));
  return subjects;
}

inline std::shared_ptr<Subject> mutant(const std::string& id) {
  return open_library(build_folder() / "mutants.so", id);
}

}  // namespace rope::cross_check
