// Evidence: cases that were run for the diagnosis, and what each of their rows came out as.
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

// A case, what the kernel made of it, and what is right.
struct Observation {
  Case c;
  Call before;
  Trial trial;
  std::optional<Expectation> expectation;  // of `before`, which must not move
  Prediction right;
  std::vector<double> actual;  // in the order of a Prediction
  std::vector<char> poison;    // elements that were never written
  std::vector<RowKey> rows;
  std::vector<char> wrong;  // rows
  std::int64_t head_dim = 0;
  bool decisive = false;  // made to part two causes
  Finding problem;        // not passed(): no answer, whose rows are then one, or a gap that was written

  bool answered() const { return !right.value.empty(); }
  bool failed() const;
  std::size_t elements() const { return actual.size(); }
};

std::unique_ptr<Observation> observe(const Case& c, Examiner& examiner);

// The same call, where it was stopped at a read past the end of a tensor: with bytes behind the tensors that may be
// read, so that there are values to look at. nullptr where the call was not stopped so, or is stopped here too.
std::unique_ptr<Observation> observe_beyond(const Observation& stopped, Examiner& examiner);

// Whether element i of what the kernel wrote is what a prediction says.
bool agrees(const Observation& seen, const Prediction& said, std::size_t i);

// Whether a case that was made of another can be run in passing: tables have a row for every position.
bool is_affordable(const Case& c);

// The cases that the diagnosis runs: those that failed, their neighbours, and random ones.
std::vector<Case> cases_to_observe(const SubjectReport& report, const Claims& claims);

// More random cases that the claims and the selection cover, others for each stream.
std::vector<Case> random_cases(const SubjectReport& report, const Claims& claims, std::uint64_t stream, int count);

}  // namespace rope::diagnosis
