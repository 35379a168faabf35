// What a check found. Numbers only; explain.hpp makes sentences of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/judge/call/outside_access.hpp"
#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/verdict/expectation.hpp"

namespace rope {

// What a rotated element was made of: enough to compute it again without a kernel.
struct Rotation {
  AngleSource source = AngleSource::tables;
  DType input = DType::f32;
  std::uint64_t bits[2] = {};  // of the pair's features, as they were before the call
  PairAngle angle;
  DType given = DType::f32;  // of tables or theta
  double theta = 0;          // radians a position, rounded once; 0 where tables are given
  double lambda = 1;
  bool backward = false;
  bool of_second = false;  // the element is the pair's second feature
};

// One element of one output, against what it should be.
struct Element {
  std::string tensor;  // "q" or "k"
  RowIndex row{};
  std::int64_t feature = 0;
  std::optional<std::size_t> pair;  // none: a pass-through feature
  std::int64_t position = 0;        // of the pair's axis
  double phi = 0;                   // radians; 0 where tables are given
  double expected = 0;
  double actual = 0;
  std::uint64_t actual_bits = 0;
  DType dtype = DType::f32;          // of the output
  double error = 0;                  // absolute
  double bound = 0;                  // absolute, the one that decides
  std::optional<Rotation> rotation;  // where the element was held against the oracle
};

enum class FailureKind {
  none,
  value,       // an element is wrong
  unwritten,   // an element still holds the poison
  relation,    // a relation between results does not hold
  repetition,  // the same call gave other bits
  status,      // the kernel answered something else than ok
  crash,       // the kernel's process died
  timeout,
  misbehaviour,
  missing,   // of a subject that answers by files: there is none
  malformed  // there is one, which is not the array that was asked for
};

struct Finding {
  FailureKind kind = FailureKind::none;
  std::string message;                  // for failures other than a value, and where nothing was decided: a sentence
  std::int32_t status = ROPE_OK;        // rope_status that the kernel answered, where that is the failure
  std::optional<OutsideAccess> access;  // that the message tells of
  std::optional<Element> element;       // the worst one
  double use = 0;                       // error / bound of the worst element, against the loosest grade
  PerGrade<double> use_by_grade{};
  std::int64_t graded = 0;         // elements that use_by_grade is of
  std::int64_t compared = 0;       // elements
  std::int64_t wrong = 0;          // elements beyond their bound
  std::int64_t unlike_source = 0;  // of a golden case: elements whose bits are not the source's

  bool decided = true;  // false: the case could not be judged

  bool passed() const { return kind == FailureKind::none; }

  // Joins what another part of the same check found: the worse element stays, failures are kept.
  void merge(const Finding& other);
};

}  // namespace rope
