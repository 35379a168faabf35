#include "tools/diagnose/weigh.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "tools/diagnose/elements_in_part.hpp"
#include "tools/diagnose/sample.hpp"
#include "tools/diagnose/simulation.hpp"

namespace rope::diagnosis {
namespace {

// How many cases a hypothesis is tested on: at first very few that failed, then some; if it survives, also the others.
constexpr std::size_t at_first = 5;
constexpr std::size_t first_failed = 14;
constexpr std::size_t survivors = 24;
constexpr std::size_t pair_cases = 6;
constexpr double says_no_value = 0.5;
constexpr double no_value = 0.05;  // less than the gap between a cause that explains the values and one that does not
// Angles do not depend on the place of the results. A cause of another kind that explains as much is likelier.
constexpr double angles_in_place = 0.025;
constexpr std::size_t small_call = 2000;                            // elements
constexpr double second_cause = 0.03;
constexpr double of_places = 0.002;  // less than of any literal
// More than a tie: a cause that says by itself which elements of a row are wrong is in no doubt because of one that
// needs a condition for it.
constexpr double of_some_elements = 0.021;
// If no single cause fits this well, pairs of causes are tried. Some promising ones are paired with every other
// hypothesis, in small calls first. Then the best pairs are tried in all calls.
constexpr double leaves_much_open = 0.6;
constexpr double explains_nearly_all = 0.9;
constexpr std::size_t partners = 4;
constexpr double least_promise = 0.1;
constexpr double clearly_better = 0.1;
constexpr std::size_t most_pairs = 6;

// The evidence for and against one cause, case by case.
struct EvidenceTally {
  std::vector<SeenRow> applied;      // wrong rows that match its prediction
  std::vector<SeenRow> not_applied;  // right rows that do not
  std::vector<SeenRow> open;         // wrong rows that do not
  double wrong = 0, explained = 0;   // weights of rows
  double in_part = 0;                // of rows that match in part
  double before = 0, error = 0;      // as in Simulated

  double explained_share() const { return wrong > 0 ? explained / wrong : 0; }
  double contradicted_share() const {
    double against = 0;
    for (const SeenRow& row : not_applied) against += row.weight;
    return explained + against > 0 ? against / (explained + against) : 0;
  }
  double error_gone() const { return before > 0 ? std::max(0.0, 1 - error / before) : 0; }
};

double weight_of_row(const Observation& seen) { return 1.0 / static_cast<double>(seen.rows.size()); }

bool applies(const Hypothesis* h, const Call& call) { return h != nullptr && (!h->applies || h->applies(call)); }

bool changes_angles(const Change& c) { return c.params || c.theta || c.position || c.angle || c.table; }

// Where a loop or a launch ended too early: "token 64 or more", "pairs left over from blocks of 8".
bool is_of_an_end(const Literal& l) {
  return l.is_of_places() && l.op != Comparison::equal && l.op != Comparison::at_most && l.op != Comparison::last;
}

double cost_of(const ScoredHypothesis& cause) {
  const Hypothesis& h = *cause.hypothesis;
  double cost = h.cost;
  if (std::ranges::any_of(cause.condition, is_of_an_end)) {
    // Behind an end nothing was done. Other causes that come to it say more than that: turned by nothing, or elsewhere.
    cost = h.unrotated && h.change.write ? 0 : h.cost + of_places;
  }
  if (cause.with != nullptr) cost += cause.with->cost + second_cause;
  if (std::ranges::any_of(cause.condition, &Literal::is_of_elements)) cost = std::max(cost, of_some_elements);
  for (const Literal& l : cause.condition) {
    if (l.is_of_elements()) continue;
    cost += cost_of(l);
    if (changes_angles(h.change) && l.is(Circumstance::in_place)) cost += angles_in_place;
  }
  return cost;
}

class Weigher {
 public:
  Weigher(const Sample& sample, const Stop* stop) : sample_(sample), stop_(stop) {
    for (const Observation* seen : sample_.failed) {
      for (std::size_t r = 0; r < seen->rows.size(); ++r) all_rows_ += seen->wrong[r] != 0 ? 1 : 0;
    }
  }

  // Of very few cases. Looks at none that was made to separate causes, so more of these change nothing.
  bool explains_something(const Hypothesis& h) const {
    const auto decisive = std::ranges::find_if(sample_.failed, [](const Observation* one) { return one->decisive; });
    const auto cases = some_of(static_cast<std::size_t>(decisive - sample_.failed.begin()), at_first);
    return std::ranges::any_of(cases, [&](std::size_t i) { return explains_something_of(*sample_.failed[i], h); });
  }

  // Of the failed cases that quickly() does not use.
  bool explains_something_else(const Hypothesis& h) const {
    const std::vector<std::size_t> used = some_of(sample_.failed.size(), first_failed);
    for (std::size_t i = 0; i < sample_.failed.size(); ++i) {
      if (!std::ranges::binary_search(used, i) && explains_something_of(*sample_.failed[i], h)) return true;
    }
    return false;
  }

  // Uses at most `most` of the failed cases.
  ScoredHypothesis weigh_quickly(const Hypothesis& h, const Hypothesis* with, std::size_t most) const {
    std::vector<const Observation*> some;
    for (const std::size_t i : some_of(sample_.failed.size(), most)) some.push_back(sample_.failed[i]);
    auto [result, account, elements] = held(h, with, some);
    add_shares(result, account);
    result.fit = result.explained * (1 - result.contradicted) - cost_of(result);
    return result;
  }

  // Uses all cases, under the condition that separates the explained ones from the others.
  ScoredHypothesis weigh(const Hypothesis& h, const Hypothesis* with) const {
    Held found = held(h, with, sample_.failed);
    if (found.result.condition.empty()) return finished(std::move(found));
    // Under its condition, right rows tell more of which elements are wrong.
    ElementsInPart elements = std::move(found.elements);
    ScoredHypothesis result = finished(std::move(found));
    add_right_rows(result, elements);
    ScoredHypothesis again = finished(held_in(h, elements, sample_.failed));
    return again.fit >= result.fit ? std::move(again) : std::move(result);
  }

 private:
  struct Held {
    ScoredHypothesis result;
    EvidenceTally account;
    ElementsInPart elements;  // of rows that match, or match in part, if the cause holds for all elements
  };

  // With the cases that passed.
  ScoredHypothesis finished(Held found) const {
    auto& [result, account, elements] = found;
    const Hypothesis& h = *result.hypothesis;
    // Nothing speaks against a cause that explains nothing.
    for (const Observation* seen : sample_.passed) {
      if (account.explained > 0) hold(*seen, result, account);
    }
    put_under_condition(result, account);
    add_shares(result, account);
    double cost = cost_of(result);
    // Only the ends of calls speak for it. A cause that reads a wrong element gives wrong values elsewhere, unless it
    // always leaves the tensor.
    const bool by_ends = result.rows == 0 && !h.change.beside;
    const bool is_exact = all_rows_ == 0 && result.contradicted == 0 && result.condition.empty();
    if (by_ends && !is_exact) cost += no_value;
    result.fit = result.explained * (1 - result.contradicted) - cost;
    // It leads out of the same tensors, but does not explain the wrong values.
    if (by_ends && all_rows_ > 0) result.fit *= says_no_value;
    return std::move(result);
  }

  ScoredHypothesis begin(const Hypothesis& h, const Hypothesis* with) const {
    ScoredHypothesis result;
    result.hypothesis = &h;
    result.with = with;
    result.all_rows = all_rows_;
    return result;
  }

  bool explains_something_of(const Observation& seen, const Hypothesis& h) const {
    ScoredHypothesis result = begin(h, nullptr);
    EvidenceTally account;
    hold(seen, result, account);
    return account.explained + account.in_part > 0;
  }

  // What failed cases say of a cause; of some elements of their rows only, if that explains more.
  Held held(const Hypothesis& h, const Hypothesis* with, const std::vector<const Observation*>& failed) const {
    Held of_rows{begin(h, with), {}, {}};
    for (const Observation* seen : failed) hold(*seen, of_rows.result, of_rows.account);
    const double worthwhile = of_some_elements * of_rows.account.wrong;
    // An element that is written elsewhere changes other elements, so it cannot be told from them by its place.
    if (of_rows.account.in_part < worthwhile || with != nullptr || h.change.index) return of_rows;
    for (const Observation* seen : failed) add_wrong_rows(*seen, h, of_rows.elements);
    Held of_some = held_in(h, of_rows.elements, failed);
    const double gain = of_some.account.explained - of_rows.account.explained;
    return gain > worthwhile && !of_some.result.condition.empty() ? std::move(of_some) : std::move(of_rows);
  }

  // As if the cause held only where its wrong elements are.
  Held held_in(const Hypothesis& h, const ElementsInPart& elements,
               const std::vector<const Observation*>& failed) const {
    Held found{begin(h, nullptr), {}, elements};
    found.result.condition = elements.condition();
    found.result.other_conditions = elements.others_as_good_as(found.result.condition);
    for (const Observation* seen : failed) hold(*seen, found.result, found.account);
    return found;
  }

  // Wrong rows that match, or match in part.
  static void add_wrong_rows(const Observation& seen, const Hypothesis& h, ElementsInPart& elements) {
    if (!seen.answered() || !applies(&h, seen.before)) return;
    const Simulated simulated = simulate(seen, h.change, {});
    for (std::size_t r = 0; r < seen.rows.size(); ++r) {
      const bool matches = simulated.rows[r].in_part || simulated.rows[r].agrees;
      if (seen.wrong[r] != 0 && matches) elements.add({&seen, r, weight_of_row(seen)}, simulated.said);
    }
  }

  // Right rows for which the condition holds, but for what it says of elements.
  void add_right_rows(const ScoredHypothesis& cause, ElementsInPart& elements) const {
    const auto holds = predicates_of(cause.condition);
    for (const auto* cases : {&sample_.failed, &sample_.passed}) {
      for (const Observation* seen : *cases) {
        if (!seen->answered() || !applies(cause.hypothesis, seen->before)) continue;
        const Prediction said = seen->model->predict(cause.hypothesis->change);
        for (std::size_t r = 0; r < seen->rows.size(); ++r) {
          const SeenRow row{seen, r, weight_of_row(*seen)};
          const bool is_under_it = std::ranges::all_of(holds, [&](const auto& one) { return one(row); });
          if (seen->wrong[r] == 0 && is_under_it) elements.add(row, said);
        }
      }
    }
  }

  void hold(const Observation& seen, ScoredHypothesis& result, EvidenceTally& account) const {
    throw_if_requested(stop_);
    std::optional<Simulated> simulated;
    const bool can_show = seen.answered() || seen.problem.access;  // an exception says nothing about values
    if (can_show && (applies(result.hypothesis, seen.before) || applies(result.with, seen.before))) {
      simulated = simulate(seen, change_of(result, seen.before), result.condition);
    }
    const std::size_t applied = account.applied.size();
    if (!seen.problem.passed()) hold_end(seen, simulated, result, account);
    if (seen.answered()) hold_rows(seen, simulated, result, account);
    if (seen.is_guarded && seen.problem.passed() && simulated && simulated->outside) {
      account.not_applied.push_back({&seen, 0, 1, true});
    }
    if (account.applied.size() > applied) ++result.cases;
    if (simulated) {
      account.before += simulated->before;
      account.error += simulated->error;
    } else if (seen.failed()) {
      account.before += 1;
      account.error += 1;
    }
  }

  // The end of a call, or a write into a gap, counts as much as a row.
  static void hold_end(const Observation& seen, const std::optional<Simulated>& simulated, ScoredHypothesis& result,
                       EvidenceTally& account) {
    account.wrong += 1;
    if (seen.answered() || seen.problem.access) ++result.all_ends;
    const double said = simulated ? share_of_end(seen, *simulated) : 0;
    if (said <= 0) return;
    if (said == 1) ++result.ends;
    account.explained += said;
    account.applied.push_back({&seen, 0, said, true});
  }

  static void hold_rows(const Observation& seen, const std::optional<Simulated>& simulated, ScoredHypothesis& result,
                        EvidenceTally& account) {
    const double weight = weight_of_row(seen);
    for (std::size_t r = 0; r < seen.rows.size(); ++r) {
      const bool is_wrong = seen.wrong[r] != 0;
      if (is_wrong) account.wrong += weight;
      if (is_wrong && !(simulated && simulated->rows[r].agrees)) account.open.push_back({&seen, r, weight});
      if (!simulated) continue;
      const RowCount& row = simulated->rows[r];
      if (row.in_part) account.in_part += weight * row.said;
      if (is_wrong && row.agrees) {
        account.explained += weight * row.said;
        account.applied.push_back({&seen, r, weight * row.said});
        ++result.rows;
      } else if (!is_wrong && !row.agrees) {
        account.not_applied.push_back({&seen, r, weight});
      } else if (!is_wrong) {
        ++result.right_rows;
      }
    }
  }

  static void put_under_condition(ScoredHypothesis& result, EvidenceTally& account) {
    const Condition of_elements = result.condition;
    Condition of_rows = separate(account.applied, account.not_applied);
    // A row that is written elsewhere spoils another one, which no place of its own can excuse.
    if (result.hypothesis->change.writes_elsewhere) std::erase_if(of_rows, std::mem_fn(&Literal::is_of_places));
    for (Condition& other : result.other_conditions) other.insert(other.end(), of_rows.begin(), of_rows.end());
    for (const Condition& other : others_as_good(of_rows, account.applied, account.not_applied)) {
      result.other_conditions.push_back(of_elements);
      result.other_conditions.back().insert(result.other_conditions.back().end(), other.begin(), other.end());
    }
    result.condition.insert(result.condition.end(), of_rows.begin(), of_rows.end());
    for (const Literal& literal : of_rows) {
      const auto holds = predicate_of(literal);
      std::erase_if(account.not_applied, [&](const SeenRow& row) { return !holds(row); });
      result.rows_outside += std::erase_if(account.open, [&](const SeenRow& row) { return !holds(row); });
    }
  }

  static void add_shares(ScoredHypothesis& result, const EvidenceTally& account) {
    result.explained = account.explained_share();
    result.contradicted = account.contradicted_share();
    result.partial = account.error_gone();
  }

  const Sample& sample_;
  const Stop* stop_;
  std::size_t all_rows_ = 0;
};

void rank(std::vector<ScoredHypothesis>& all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const ScoredHypothesis& a, const ScoredHypothesis& b) { return a.fit > b.fit; });
}

// The hypotheses that can show in the cases.
std::vector<const Hypothesis*> all_that_show(const Sample& sample) {
  const bool some_ended =
      std::any_of(sample.failed.begin(), sample.failed.end(), [](const Observation* one) { return !one->answered(); });
  std::vector<const Hypothesis*> all;
  for (const Hypothesis& h : all_hypotheses()) {
    if (!h.change.beside || some_ended) all.push_back(&h);  // no value shows a read beside
  }
  return all;
}

// Weighs each hypothesis on a few cases, in the order of the hypotheses.
std::vector<ScoredHypothesis> quickly(const Weigher& weigher, const std::vector<const Hypothesis*>& hypotheses) {
  std::vector<ScoredHypothesis> quick;
  for (const Hypothesis* h : hypotheses) quick.push_back(weigher.weigh_quickly(*h, nullptr, first_failed));
  return quick;
}

// Those that explain something of very few cases. What explains nearly all rows is among them.
std::vector<const Hypothesis*> that_explain_something(const Weigher& weigher,
                                                      std::vector<const Hypothesis*> hypotheses) {
  std::erase_if(hypotheses, [&](const Hypothesis* h) { return !weigher.explains_something(*h); });
  return hypotheses;
}

// Weighs the ones that fit a few cases best on all cases.
std::vector<ScoredHypothesis> survivors_of(const Weigher& weigher, std::vector<ScoredHypothesis> quick) {
  rank(quick);
  std::vector<ScoredHypothesis> full;
  for (std::size_t i = 0; i < quick.size() && i < survivors; ++i) {
    if (quick[i].explained > 0) full.push_back(weigher.weigh(*quick[i].hypothesis, nullptr));
  }
  return full;
}

std::vector<ScoredHypothesis> best_in_full(const Weigher& weigher, std::vector<ScoredHypothesis> quick) {
  std::vector<ScoredHypothesis> full = survivors_of(weigher, std::move(quick));
  // A hypothesis that shows in few cases may have missed all of the first ones.
  if (full.empty()) {
    for (const Hypothesis& h : all_hypotheses()) {
      if (weigher.explains_something_else(h)) full.push_back(weigher.weigh(h, nullptr));
    }
  }
  rank(full);
  return full;
}

void add_one_sided(const Weigher& weigher, std::vector<ScoredHypothesis>& full) {
  std::vector<const Hypothesis*> all;
  for (const Hypothesis& h : one_sided_hypotheses()) all.push_back(&h);
  const std::vector<ScoredHypothesis> found =
      survivors_of(weigher, quickly(weigher, that_explain_something(weigher, std::move(all))));
  full.insert(full.end(), found.begin(), found.end());
  rank(full);
}

double promise(const ScoredHypothesis& w) { return w.partial + w.fit; }

// Two causes if the best of `quick` leaves much open. Looks only in small calls, because there are many pairs.
std::vector<ScoredHypothesis> pairs_of_causes(const Sample& sample, std::vector<ScoredHypothesis> quick,
                                              double least_fit, const Stop* stop) {
  Sample few = sample;
  std::erase_if(few.failed, [](const Observation* one) { return one->elements() > small_call; });
  std::vector<ScoredHypothesis> pairs;
  if (few.failed.empty()) return pairs;
  const Weigher weigher(few, stop);
  std::stable_sort(quick.begin(), quick.end(),
                   [](const ScoredHypothesis& a, const ScoredHypothesis& b) { return promise(a) > promise(b); });
  for (std::size_t i = 0; i < partners && promise(quick[i]) > least_promise; ++i) {
    for (const Hypothesis& second : all_hypotheses()) {
      const Hypothesis* first = quick[i].hypothesis;
      if (&second == first) continue;
      ScoredHypothesis both = weigher.weigh_quickly(*first, &second, pair_cases);
      if (both.fit > least_fit) pairs.push_back(std::move(both));
    }
  }
  rank(pairs);
  if (pairs.size() > most_pairs) pairs.resize(most_pairs);
  return pairs;
}

}  // namespace

Change change_of(const ScoredHypothesis& cause, const Call& call) {
  const auto part = [&](const Hypothesis* h) { return applies(h, call) ? h->change : Change{}; };
  return both(part(cause.hypothesis), part(cause.with));
}

std::vector<ScoredHypothesis> HypothesisRanking::weigh(const Observations& seen, SearchEffort care) {
  const Sample sample = sample_of(seen);
  if (sample.failed.empty()) return {};
  const Weigher weigher(sample, stop_);
  const std::vector<const Hypothesis*> all = all_that_show(sample);
  if (screened_ != all) {
    screened_ = all;
    promising_ = that_explain_something(weigher, all);
  }
  std::vector<ScoredHypothesis> quick = quickly(weigher, promising_);
  std::vector<ScoredHypothesis> full;
  if (!quick.empty()) full = best_in_full(weigher, quick);
  const auto best_fit = [&] { return full.empty() ? 0 : full[0].fit; };
  if (care == SearchEffort::thorough && best_fit() < explains_nearly_all) {
    quick = quickly(weigher, all);
    full = best_in_full(weigher, quick);
    if (best_fit() < leaves_much_open) add_one_sided(weigher, full);
    if (best_fit() < leaves_much_open) {
      for (const ScoredHypothesis& pair : pairs_of_causes(sample, quick, best_fit() + clearly_better, stop_)) {
        full.push_back(weigher.weigh(*pair.hypothesis, pair.with));
      }
      rank(full);
    }
  }
  // A condition that names one rule is of that rule's own hypothesis.
  std::erase_if(full, [](const ScoredHypothesis& w) {
    return w.hypothesis->several_rules && std::ranges::any_of(w.condition, &Literal::names_a_rule);
  });
  // A cause that predicts neither a row nor the element at which a call left its tensors has nothing to show for it.
  std::erase_if(full, [](const ScoredHypothesis& w) { return w.rows + w.ends == 0; });
  return full;
}

ScoredHypothesis HypothesisRanking::weigh_again(const ScoredHypothesis& cause, const Observations& seen) const {
  const Sample sample = sample_of(seen);
  return Weigher(sample, stop_).weigh(*cause.hypothesis, cause.with);
}

}  // namespace rope::diagnosis
