// Weighing: how well each hypothesis explains what was seen.
#pragma once

#include <memory>
#include <vector>

#include "tools/diagnose/hypothesis.hpp"
#include "tools/diagnose/literal.hpp"

namespace rope::diagnosis {

using Observations = std::vector<std::unique_ptr<Observation>>;

struct Weighed {
  const Hypothesis* hypothesis = nullptr;
  const Hypothesis* with = nullptr;  // a second cause beside it
  double explained = 0;              // share of the wrong rows that it explains
  double contradicted = 0;           // of what it says, the share that is not so, under its condition
  double partial = 0;                // how much of the error is gone where it does not explain all
  double fit = 0;                    // what candidates are ranked by
  Condition condition;
  std::size_t rows = 0, all_rows = 0;  // wrong ones: explained, seen
  std::size_t cases = 0;               // that these are of
  std::size_t right_rows = 0;          // right ones of which it says so too
};

// What a cause changes in a call: nothing where it does not apply.
Change change_of(const Weighed& cause, const Call& call);

// Best first; those that explain nothing are left out.
std::vector<Weighed> weigh(const Observations& seen);

}  // namespace rope::diagnosis
