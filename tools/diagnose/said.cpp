#include "tools/diagnose/said.hpp"

#include <algorithm>
#include <cmath>

#include "tools/diagnose/simulation.hpp"

namespace rope::diagnosis {
namespace {

bool differs(const Prediction& a, std::size_t i, const Prediction& b) {
  return a.written[i] != b.written[i] || std::fabs(a.value[i] - b.value[i]) > a.bound[i] + b.bound[i];
}

}  // namespace

Said::Said(const Observation& of, const Weighed& cause)
    : of_(of),
      change_(change_of(cause, of.before)),
      changed_(of.model->predict(change_)),
      holds_(where(cause.condition)) {}

bool Said::differs_from(const Said& other) const {
  if (leaves_a_tensor() != other.leaves_a_tensor()) return true;
  for (std::size_t i = 0; i < of_.right.value.size(); ++i) {
    if (differs(at(i), i, other.at(i))) return true;
  }
  return false;
}

bool Said::says_wrong() const { return calls_wrong(holds_) || leaves_a_tensor(); }

bool Said::would_differ_under(const Condition& other) const {
  std::vector<char> only_one = where(other);
  for (std::size_t r = 0; r < only_one.size(); ++r) only_one[r] = only_one[r] != holds_[r] ? 1 : 0;
  return calls_wrong(only_one);
}

bool Said::is_so() const {
  if (!of_.answered()) return leaves_a_tensor();
  const Simulated simulated = simulate(of_, change_);
  for (std::size_t r = 0; r < of_.rows.size(); ++r) {
    if (holds_[r] != 0 ? !simulated.rows[r].agrees : of_.wrong[r] != 0) return false;
  }
  return true;
}

bool Said::leaves_a_tensor() const {
  return of_.is_guarded && changed_.outside && std::ranges::find(holds_, 1) != holds_.end();
}

std::vector<char> Said::where(const Condition& condition) const {
  std::vector<char> rows;
  for (std::size_t r = 0; r < of_.rows.size(); ++r) {
    const SeenRow row{&of_, r, 1};
    rows.push_back(std::ranges::all_of(condition, [&](const Literal& l) { return predicate_of(l)(row); }));
  }
  return rows;
}

bool Said::calls_wrong(const std::vector<char>& rows) const {
  for (std::size_t i = 0; i < of_.right.value.size(); ++i) {
    if (rows[row_of(i)] != 0 && differs(changed_, i, of_.right)) return true;
  }
  return false;
}

}  // namespace rope::diagnosis
