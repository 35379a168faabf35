#include "tests/diagnosis/weigh.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace rope::diagnosis {
namespace {

// How many cases a hypothesis is held against: first a few that failed, and what survives against the others too.
constexpr std::size_t first_failed = 14;
constexpr std::size_t most_failed = 40;
constexpr std::size_t most_passed = 60;
constexpr std::size_t survivors = 24;
constexpr std::size_t pair_cases = 6;
constexpr double says_no_value = 0.5;
constexpr double no_value = 0.05;  // less than what two causes differ by that one of them explains
// Angles do not depend on where the results go: what else explains as much is likelier.
constexpr double angles_in_place = 0.025;
constexpr std::size_t small_call = 2000;  // elements
constexpr std::size_t partners = 4;       // that are tried with every other hypothesis where none explains all

// Rounding hypotheses fall to the other side of a boundary now and then, since the kernel's own error moves the value
// that is rounded: by u(f32) of u(f16) or more, 2^-13 of the elements and a few times that with three operations.
constexpr std::size_t elements_for_a_slip = 32;

struct RowCount {
  double said = 1;     // share of the wrong elements of which it says something: reads outside may yield anything
  bool agrees = true;  // with the hypothesis
};

struct Simulated {
  std::vector<RowCount> rows;
  std::optional<Outside> outside;  // as a Prediction has them
  bool gaps = false;
  double error = 0;  // what is left of the error, and what it was: in units of the row's size, capped at 1 an element
  double before = 0;
};

double capped(double actual, double expected, double size) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) == std::isnan(expected) ? 0 : 1;
  return size == 0 ? 0 : std::min(std::fabs(actual - expected) / size, 1.0);
}

Simulated simulate(const Observation& seen, const Change& change) {
  const Prediction said = predict(seen.before, *seen.expectation, change);
  Simulated result;
  result.outside = said.outside;
  result.gaps = said.gaps;
  if (!seen.answered()) {
    result.rows.resize(seen.rows.size());
    result.before = result.error = 1;
    return result;
  }
  const auto dim = static_cast<std::size_t>(seen.head_dim);
  result.rows.resize(seen.rows.size());
  for (std::size_t r = 0; r < seen.rows.size(); ++r) {
    std::size_t slips = 0;
    double size = 0;
    for (std::size_t i = r * dim; i < (r + 1) * dim; ++i) {
      if (std::isfinite(seen.right.value[i])) size = std::max(size, std::fabs(seen.right.value[i]));
    }
    for (std::size_t i = r * dim; i < (r + 1) * dim; ++i) {
      if (!agrees(seen, said, i)) ++slips;
      if (seen.wrong[r] != 0) {
        result.error += std::isinf(said.bound[i]) ? 1 : capped(seen.actual[i], said.value[i], size);
        result.before += capped(seen.actual[i], seen.right.value[i], size);
      }
    }
    result.rows[r].agrees = slips <= dim / elements_for_a_slip;
    if (seen.wrong[r] != 0) {
      double wrong = 0, said_of = 0;
      for (std::size_t i = r * dim; i < (r + 1) * dim; ++i) {
        if (agrees(seen, seen.right, i)) continue;
        ++wrong;
        said_of += std::isinf(said.bound[i]) ? 0 : 1;
      }
      result.rows[r].said = wrong > 0 ? said_of / wrong : 1;
    }
    // A slip excuses no row that is wrong in one element only.
    if (slips > 0 && seen.wrong[r] != 0) {
      std::size_t was = 0;
      for (std::size_t i = r * dim; i < (r + 1) * dim; ++i) was += agrees(seen, seen.right, i) ? 0 : 1;
      if (was <= 2 * slips) result.rows[r].agrees = false;
    }
  }
  return result;
}

// How far a simulation accounts for what ended a call, or for what was written into a gap. Many mistakes lead out of
// the same tensor, so that alone says little; the same element says much.
double share_of_end(const Observation& seen, const Simulated& simulated) {
  if (seen.answered()) return simulated.gaps ? 1 : 0;
  const std::optional<Outside> was = access_of(seen.problem);
  if (!simulated.outside || !was) return 0;
  if (was->tensor != simulated.outside->tensor || was->write != simulated.outside->write) return 0;
  std::int64_t element = simulated.outside->element;
  if (was->by_row)
    element = static_cast<std::int64_t>(
        std::floor(static_cast<double>(element) / static_cast<double>(seen.before.cos->strides[0])));
  return was->element == element ? 1 : 0.2;
}

struct Sample {
  std::vector<const Observation*> failed, passed;
};

// Small cases first, every requirement's own before the random ones.
Sample sample_of(const Observations& seen) {
  Sample sample;
  for (const auto& one : seen) (one->failed() ? sample.failed : sample.passed).push_back(one.get());
  const auto spread = [](std::vector<const Observation*>& list, std::size_t most) {
    if (list.size() <= most) return;
    std::vector<const Observation*> kept;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool is_chosen = i * most / list.size() != (i + 1) * most / list.size();
      if (is_chosen || list[i]->decisive) kept.push_back(list[i]);
    }
    list = kept;
  };
  spread(sample.failed, most_failed);
  spread(sample.passed, most_passed);
  return sample;
}

class Weigher {
 public:
  explicit Weigher(const Sample& sample) : sample_(sample) {
    for (const Observation* seen : sample_.failed) {
      for (std::size_t r = 0; r < seen->rows.size(); ++r) all_rows_ += seen->wrong[r] != 0 ? 1 : 0;
    }
  }

  Weighed weigh(const Hypothesis& h, const Hypothesis* with, bool in_full, std::size_t most = first_failed) const {
    Weighed result;
    result.hypothesis = &h;
    result.with = with;
    result.all_rows = all_rows_;
    std::vector<SeenRow> applied, not_applied;
    double wrong = 0, explained = 0, before = 0, error = 0;
    const auto hold = [&](const Observation& seen) {
      const auto applies = [&](const Hypothesis* one) {
        return one != nullptr && (!one->applies || one->applies(seen.before));
      };
      const double weight = 1.0 / static_cast<double>(seen.rows.size());
      std::optional<Simulated> simulated;
      if (applies(&h) || applies(with)) simulated = simulate(seen, change_of(result, seen.before));
      bool some = false;
      if (!seen.problem.passed()) {
        // Where the call ended, or what it left in a gap, is as much as a row.
        wrong += 1;
        const double said = simulated ? share_of_end(seen, *simulated) : 0;
        if (said > 0) {
          explained += said;
          applied.push_back({&seen, 0, said, true});
          some = true;
        }
      }
      for (std::size_t r = 0; seen.answered() && r < seen.rows.size(); ++r) {
        if (seen.wrong[r] != 0) wrong += weight;
        if (!simulated) continue;
        const RowCount& row = simulated->rows[r];
        if (seen.wrong[r] != 0 && row.agrees) {
          explained += weight * row.said;
          applied.push_back({&seen, r, weight * row.said});
          ++result.rows;
          some = true;
        } else if (seen.wrong[r] == 0 && !row.agrees) {
          not_applied.push_back({&seen, r, weight});
        } else if (seen.wrong[r] == 0) {
          ++result.right_rows;
        }
      }
      if (some) ++result.cases;
      if (simulated) {
        before += simulated->before;
        error += simulated->error;
      } else if (seen.failed()) {
        before += 1;
        error += 1;
      }
    };
    const std::size_t few = in_full ? sample_.failed.size() : std::min(most, sample_.failed.size());
    for (std::size_t i = 0; i < few; ++i) hold(*sample_.failed[in_full ? i : i * sample_.failed.size() / few]);
    if (in_full) {
      for (const Observation* seen : sample_.passed) hold(*seen);
      result.condition = separate(applied, not_applied);
      std::erase_if(not_applied, [&](const SeenRow& row) {
        return std::any_of(result.condition.begin(), result.condition.end(),
                           [&](const Literal& l) { return !l.holds(row); });
      });
    }
    double against = 0;
    for (const SeenRow& row : not_applied) against += row.weight;
    result.explained = wrong > 0 ? explained / wrong : 0;
    result.contradicted = explained + against > 0 ? against / (explained + against) : 0;
    result.partial = before > 0 ? std::max(0.0, 1 - error / before) : 0;
    double cost = h.cost + (with == nullptr ? 0 : with->cost + 0.03);
    const bool of_angles = h.change.params || h.change.theta || h.change.position || h.change.angle || h.change.table;
    for (const Literal& l : result.condition) {
      cost += l.counted ? 0.006 : 0.003;
      if (of_angles && l.words == "in place") cost += angles_in_place;
    }
    // Only where calls ended speaks for it. What reads a wrong element gives wrong values elsewhere.
    if (in_full && result.rows == 0 && !h.change.beside) cost += no_value;
    result.fit = result.explained * (1 - result.contradicted) - cost;
    // It leads out of the same tensors, and says nothing of the values that are wrong.
    if (in_full && result.rows == 0 && all_rows_ > 0 && !h.change.beside) result.fit *= says_no_value;
    return result;
  }

 private:
  const Sample& sample_;
  std::size_t all_rows_ = 0;
};

void rank(std::vector<Weighed>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Weighed& a, const Weighed& b) { return a.fit > b.fit; });
}

}  // namespace

Change change_of(const Weighed& cause, const Call& call) {
  const auto part = [&](const Hypothesis* h) {
    return h != nullptr && (!h->applies || h->applies(call)) ? h->change : Change{};
  };
  return both(part(cause.hypothesis), part(cause.with));
}

std::vector<Weighed> weigh(const Observations& seen) {
  const Sample sample = sample_of(seen);
  if (sample.failed.empty()) return {};
  const Weigher weigher(sample);
  // Two causes are looked for in small calls alone: there are many pairs.
  Sample small = sample;
  std::erase_if(small.failed, [](const Observation* one) { return one->elements() > small_call; });
  const Weigher small_weigher(small);
  std::vector<Weighed> quick;
  const bool some_ended =
      std::any_of(sample.failed.begin(), sample.failed.end(), [](const Observation* one) { return !one->answered(); });
  for (const Hypothesis& h : all_hypotheses()) {
    if (h.change.beside && !some_ended) continue;  // no value shows it
    quick.push_back(weigher.weigh(h, nullptr, false));
  }
  std::vector<Weighed> by_error = quick;
  rank(quick);
  std::vector<Weighed> full;
  for (std::size_t i = 0; i < quick.size() && i < survivors; ++i) {
    if (quick[i].explained > 0) full.push_back(weigher.weigh(*quick[i].hypothesis, nullptr, true));
  }
  // One that shows in few cases only may have missed all of the first ones.
  if (full.empty()) {
    for (const Hypothesis& h : all_hypotheses()) full.push_back(weigher.weigh(h, nullptr, true));
  }
  rank(full);
  if (full[0].fit < 0.6 && !small.failed.empty()) {
    std::stable_sort(by_error.begin(), by_error.end(),
                     [](const Weighed& a, const Weighed& b) { return a.partial + a.fit > b.partial + b.fit; });
    std::vector<Weighed> pairs;
    for (std::size_t i = 0; i < partners && by_error[i].partial + by_error[i].fit > 0.1; ++i) {
      for (const Hypothesis& second : all_hypotheses()) {
        const Hypothesis* first = by_error[i].hypothesis;
        if (&second == first) continue;
        Weighed both = small_weigher.weigh(*first, &second, false, pair_cases);
        if (both.fit > full[0].fit + 0.1) pairs.push_back(std::move(both));
      }
    }
    rank(pairs);
    for (std::size_t i = 0; i < pairs.size() && i < 6; ++i) {
      full.push_back(weigher.weigh(*pairs[i].hypothesis, pairs[i].with, true));
    }
    rank(full);
  }
  std::erase_if(full, [](const Weighed& w) { return w.explained <= 0; });
  return full;
}

}  // namespace rope::diagnosis
