// What a check found. Numbers only; explain.hpp turns them into sentences.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/judge/call/outside_access.hpp"
#include "tools/judge/call/raised.hpp"
#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/verdict/expectation.hpp"

namespace rope {

// The inputs of a rotated element: enough to compute it again without a kernel.
struct Rotation {
  AngleSource source = AngleSource::tables;
  DType input = DType::f32;
  std::uint64_t bits[2] = {};  // of the pair's features, before the call
  PairAngle angle;
  DType given = DType::f32;  // of tables or theta
  double theta = 0;          // radians per position, rounded once; 0 if tables are given
  double lambda = 1;
  bool backward = false;
  bool of_second = false;  // the element is the pair's second feature
};

// What a relation compares: elements, or numbers that are made of many.
enum class Compared {
  element,
  row,    // of features
  score,  // of the query at token row.seq and the key at token `feature`
  mean    // of a whole output
};

// One element of one output, compared with its expected value.
struct Element {
  Compared what = Compared::element;
  std::string tensor;  // "q" or "k"
  RowIndex row{};
  std::int64_t feature = 0;
  std::optional<std::size_t> pair;  // none: a pass-through feature
  std::int64_t position = 0;        // of the pair's axis
  double phi = 0;                   // radians; 0 if tables are given
  double expected = 0;
  double actual = 0;
  std::uint64_t actual_bits = 0;
  DType dtype = DType::f32;          // of the output
  double error = 0;                  // absolute
  double bound = 0;                  // absolute, the deciding one
  std::optional<Rotation> rotation;  // if the element was compared with the oracle
};

enum class FailureKind {
  none,
  value,       // an element is wrong
  unwritten,   // an element still holds the poison
  relation,    // a relation between results does not hold
  repetition,  // the same call gave other bits
  status,      // the kernel did not answer ok
  exception,   // the kernel raised
  crash,       // the kernel's process died
  timeout,
  misbehaviour,
  missing,   // the subject answers with files, and there is none
  malformed  // the file does not hold the requested array
};

// Whether the kernel answered, and its results are wrong.
bool is_of_values(FailureKind kind);

struct Finding {
  FailureKind kind = FailureKind::none;
  // A sentence, except for wrong and unwritten values. A relation's check writes it: it knows both sides. Also of a
  // mean that holds, and of what was not decided.
  std::string message;
  std::int32_t status = ROPE_OK;        // the kernel's rope_status, if that is the failure
  std::optional<OutsideAccess> access;  // the access in the message
  bool breaks_mode = false;             // the message is about the thread's floating-point mode
  std::optional<Raised> raised;         // if kind is exception
  std::optional<Element> element;       // the worst one
  double use = 0;                       // error / bound of the worst element, at the required grade
  PerGrade<double> use_by_grade{};
  std::int64_t graded = 0;         // elements behind use_by_grade
  std::int64_t compared = 0;       // elements
  std::int64_t wrong = 0;          // elements beyond their bound
  std::int64_t source_mismatches = 0;  // of a golden case: elements whose bits are not the source's

  bool decided = true;  // false: the case could not be judged

  bool passed() const { return kind == FailureKind::none; }

  // Adds the finding of another part of the same check: the worse element stays, failures are kept.
  void merge(const Finding& other);
};

}  // namespace rope
