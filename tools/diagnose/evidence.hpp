// Evidence: cases that the diagnosis ran, and the result of each of their rows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/diagnose/model.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope::diagnosis {

struct RowKey {
  bool key = false;
  std::int64_t batch = 0, seq = 0, head = 0;
  std::int64_t position = 0;  // of axis 0
};

// A case, the kernel's result, and the right one.
struct Observation {
  Case c;
  Call before;
  Trial trial;
  std::optional<Expectation> expectation;  // of `before`, which must not move
  std::optional<Model> model;              // of both
  Prediction right;
  std::vector<double> actual;  // in the order of a Prediction
  std::vector<char> poison;    // elements that were never written
  std::vector<RowKey> rows;
  std::vector<char> wrong;           // rows
  std::vector<char> wrong_elements;  // elements
  std::int64_t head_dim = 0;
  bool decisive = false;    // made to separate two causes
  bool is_guarded = false;  // an access past the end of a tensor would have ended the call
  Finding problem;          // not passed(): no answer, which then counts as one row, or a write into a gap

  bool answered() const { return !right.value.empty(); }
  bool failed() const;
  std::size_t elements() const { return actual.size(); }
};

using Observations = std::vector<std::unique_ptr<Observation>>;

// A call that was not made: no result, but everything that a prediction and a condition need.
std::unique_ptr<Observation> prepare(const Case& c, Examiner& examiner);

std::unique_ptr<Observation> observe(const Case& c, Examiner& examiner);

// The same call once more, if it was stopped at a read past the end of a tensor. Now readable bytes follow the tensors,
// so there are values to look at. nullptr if the call was not stopped there, or is stopped again.
std::unique_ptr<Observation> observe_beyond(const Observation& stopped, Examiner& examiner);

// Whether element i of the kernel's output matches a prediction.
bool agrees(const Observation& seen, const Prediction& said, std::size_t i);

// Whether a derived case is cheap enough to run in passing: tables have a row for every position.
bool is_affordable(const Case& c);

// The cases to run for the diagnosis: the failing ones, their neighbours, and random ones.
std::vector<Case> cases_to_observe(const SubjectReport& report, const Claims& claims);

// Cases that were not run yet, on which causes of the failures seen may differ: random ones, the same with what fails,
// and failing ones from another position on.
std::vector<Case> discriminating_cases(const SubjectReport& report, const Claims& claims, const Observations& seen);

// Cases between failing and random ones, which were not run yet: many have all that a failure needs, and everything
// else is different.
std::vector<Case> cases_between(const SubjectReport& report, const Claims& claims, const Observations& seen);

// The cases that fail, each after a change, as far as it is another case that was not run and the claims cover it.
std::vector<Case> failing_cases_with(const std::function<void(Case&)>& change, const SubjectReport& report,
                                     const Claims& claims, const Observations& seen);

// More random cases that the claims and the selection cover, different ones for each stream.
std::vector<Case> random_cases(const SubjectReport& report, const Claims& claims, std::uint64_t stream, int count);

}  // namespace rope::diagnosis
