// Weighing: how well each hypothesis explains the observations.
#pragma once

#include <memory>
#include <vector>

#include "tools/diagnose/hypothesis.hpp"
#include "tools/diagnose/literal.hpp"
#include "tools/judge/call/stop.hpp"

namespace rope::diagnosis {

struct ScoredHypothesis {
  const Hypothesis* hypothesis = nullptr;
  const Hypothesis* with = nullptr;  // a second cause beside it
  double explained = 0;              // share of the wrong rows that it explains
  double contradicted = 0;           // the share of its predictions that are false, under its condition
  double partial = 0;                // how much of the error it removes if it does not explain all
  double fit = 0;                    // candidates are ranked by this
  Condition condition;               // which elements of a row, and which rows
  std::vector<Condition> other_conditions;  // that fit the same rows as well
  std::size_t rows = 0, all_rows = 0;  // wrong rows: explained, observed
  std::size_t ends = 0, all_ends = 0;  // calls that left a tensor: at the predicted element, observed
  std::size_t cases = 0;               // the cases of these rows and ends
  std::size_t right_rows = 0;          // right rows that it predicts rightly
  std::size_t rows_outside = 0;        // wrong rows for which its condition does not hold
};

// What a cause changes in a call: nothing if it does not apply.
Change change_of(const ScoredHypothesis& cause, const Call& call);

// How long causes are looked for if none that is found at once explains nearly all.
enum class SearchEffort { quick, thorough };

// Weighs again whenever more was observed. What the first weighing learnt of very few cases is kept for the others.
class HypothesisRanking {
 public:
  explicit HypothesisRanking(const Stop* stop = nullptr) : stop_(stop) {}

  // Best first; hypotheses that explain nothing are left out. Throws Interrupted once `stop` is requested.
  std::vector<ScoredHypothesis> weigh(const Observations& seen, SearchEffort care);

  // One cause, on more than it was weighed on before.
  ScoredHypothesis weigh_again(const ScoredHypothesis& cause, const Observations& seen) const;

 private:
  const Stop* stop_;
  std::vector<const Hypothesis*> screened_, promising_;  // all that can show, and those that explain something
};

}  // namespace rope::diagnosis
