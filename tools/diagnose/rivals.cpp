#include "tools/diagnose/rivals.hpp"

#include <algorithm>
#include <cmath>

#include "tools/diagnose/cause_class.hpp"

namespace rope::diagnosis {
namespace {

constexpr std::size_t most_rivals = 6;
constexpr std::size_t most_cases = 8;  // for each rival, and to test the best cause

std::size_t number_of_rivals(const std::vector<Weighed>& weighed) {
  std::size_t count = 0;
  while (count + 1 < weighed.size() && weighed[count + 1].fit >= weighed[0].fit - a_tie) ++count;
  return count;
}

// What a cause says of a call, under its condition.
class Said {
 public:
  Said(const Observation& of, const Weighed& cause)
      : of_(of), changed_(of.model->predict(change_of(cause, of.before))) {
    for (std::size_t r = 0; r < of.rows.size(); ++r) {
      const SeenRow row{&of, r, 1};
      holds_.push_back(std::all_of(cause.condition.begin(), cause.condition.end(),
                                   [&](const Literal& literal) { return predicate_of(literal)(row); }));
    }
  }

  bool differs_from(const Said& other) const {
    for (std::size_t i = 0; i < of_.right.value.size(); ++i) {
      if (differs(at(i), i, other.at(i))) return true;
    }
    return false;
  }

  bool says_wrong() const { return says_wrong_where(true); }

  // But for its condition, it would say that the kernel is wrong.
  bool only_condition_says_right() const { return says_wrong_where(false); }

 private:
  bool says_wrong_where(bool condition_holds) const {
    for (std::size_t i = 0; i < of_.right.value.size(); ++i) {
      if (holds(i) == condition_holds && differs(changed_, i, of_.right)) return true;
    }
    return false;
  }

  bool holds(std::size_t i) const { return holds_[i / static_cast<std::size_t>(of_.head_dim)] != 0; }

  const Prediction& at(std::size_t i) const { return holds(i) ? changed_ : of_.right; }

  static bool differs(const Prediction& a, std::size_t i, const Prediction& b) {
    return a.written[i] != b.written[i] || std::fabs(a.value[i] - b.value[i]) > a.bound[i] + b.bound[i];
  }

  const Observation& of_;
  Prediction changed_;
  std::vector<char> holds_;  // the condition, for each row
};

}  // namespace

Rivals::Rivals(const SubjectReport& report, const Observations& seen, Examiner& examiner) {
  for (const Case& c : cases_to_part(report, examiner.subject().claims(), seen)) {
    cases_.push_back(prepare(c, examiner));
  }
  named_.assign(cases_.size(), 0);
}

std::vector<Case> Rivals::deciding(const std::vector<Weighed>& weighed, double least_fit) {
  const std::size_t rivals = std::min(number_of_rivals(weighed), most_rivals);
  std::vector<std::size_t> wanted(rivals, most_cases);
  // To test the best if it would be certain: cases that it calls wrong, and cases that only its condition calls right.
  const bool tests = weighed[0].fit >= least_fit;
  std::size_t wrong_wanted = tests ? most_cases : 0;
  std::size_t right_wanted = tests && !weighed[0].condition.empty() ? most_cases : 0;
  std::vector<Case> found;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const bool parted = std::all_of(wanted.begin(), wanted.end(), [](std::size_t count) { return count == 0; });
    if (parted && wrong_wanted + right_wanted == 0) break;
    if (named_[i] != 0) continue;
    const Said best(*cases_[i], weighed[0]);
    bool decides = false;
    const auto count = [&](std::size_t& left, bool is_so) {
      decides = decides || is_so;
      if (is_so) --left;
    };
    for (std::size_t r = 0; r < rivals; ++r) {
      if (wanted[r] > 0) count(wanted[r], best.differs_from(Said(*cases_[i], weighed[r + 1])));
    }
    if (wrong_wanted > 0) count(wrong_wanted, best.says_wrong());
    if (right_wanted > 0) count(right_wanted, best.only_condition_says_right());
    if (!decides) continue;
    named_[i] = 1;
    found.push_back(cases_[i]->c);
  }
  return found;
}

bool Rivals::has_tie(const std::vector<Weighed>& weighed) const {
  const auto begin = weighed.begin() + 1;
  return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(number_of_rivals(weighed)), [&](const Weighed& rival) {
    return class_of(rival) != class_of(weighed[0]) || differ(rival, weighed[0]);
  });
}

bool Rivals::differ(const Weighed& a, const Weighed& b) const {
  return std::any_of(cases_.begin(), cases_.end(),
                     [&](const auto& one) { return Said(*one, a).differs_from(Said(*one, b)); });
}

}  // namespace rope::diagnosis
