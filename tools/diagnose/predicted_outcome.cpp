#include "tools/diagnose/predicted_outcome.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "tools/diagnose/simulation.hpp"

namespace rope::diagnosis {
namespace {

bool differs(const Prediction& a, std::size_t i, const Prediction& b) {
  return a.written[i] != b.written[i] || std::fabs(a.value[i] - b.value[i]) > a.bound[i] + b.bound[i];
}

}  // namespace

PredictedOutcome::PredictedOutcome(const Observation& of, const ScoredHypothesis& cause)
    : of_(of),
      change_(change_of(cause, of.before)),
      condition_(cause.condition),
      changed_(of.model->predict(change_)),
      holds_(where(cause.condition)) {}

bool PredictedOutcome::differs_from(const PredictedOutcome& other) const {
  if (leaves_a_tensor() != other.leaves_a_tensor()) return true;
  for (std::size_t i = 0; i < of_.right.value.size(); ++i) {
    if (differs(at(i), i, other.at(i))) return true;
  }
  return false;
}

bool PredictedOutcome::says_wrong() const { return calls_wrong(holds_) || leaves_a_tensor(); }

bool PredictedOutcome::would_differ_under(const Condition& other) const {
  std::vector<char> only_one = where(other);
  for (std::size_t i = 0; i < only_one.size(); ++i) only_one[i] = only_one[i] != holds_[i] ? 1 : 0;
  return calls_wrong(only_one);
}

bool PredictedOutcome::is_so() const {
  if (!of_.answered()) return leaves_a_tensor();
  const Simulated simulated = simulate(of_, change_, condition_);
  const auto dim = static_cast<std::size_t>(of_.head_dim);
  for (std::size_t r = 0; r < of_.rows.size(); ++r) {
    const std::span elements = std::span(holds_).subspan(r * dim, dim);
    const bool holds = std::ranges::find(elements, 1) != elements.end();
    if (holds ? !simulated.rows[r].agrees : of_.wrong[r] != 0) return false;
  }
  return true;
}

bool PredictedOutcome::leaves_a_tensor() const {
  return of_.is_guarded && changed_.outside && std::ranges::find(holds_, 1) != holds_.end();
}

std::vector<char> PredictedOutcome::where(const Condition& condition) const {
  const auto holds = predicates_of(condition);
  const auto all_hold = [&](const SeenRow& at) {
    return std::ranges::all_of(holds, [&](const auto& one) { return one(at); });
  };
  const bool is_of_elements = std::ranges::any_of(condition, &Literal::is_of_elements);
  std::vector<char> elements;
  for (std::size_t r = 0; r < of_.rows.size(); ++r) {
    const bool in_row = all_hold({&of_, r, 1});
    for (int f = 0; f < of_.head_dim; ++f) {
      elements.push_back(in_row && (!is_of_elements || all_hold({&of_, r, 1, false, f})) ? 1 : 0);
    }
  }
  return elements;
}

bool PredictedOutcome::calls_wrong(const std::vector<char>& elements) const {
  for (std::size_t i = 0; i < of_.right.value.size(); ++i) {
    if (elements[i] != 0 && differs(changed_, i, of_.right)) return true;
  }
  return false;
}

}  // namespace rope::diagnosis
