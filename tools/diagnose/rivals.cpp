#include "tools/diagnose/rivals.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include "tools/diagnose/cause_class.hpp"
#include "tools/diagnose/predicted_outcome.hpp"

namespace rope::diagnosis {
namespace {

constexpr std::size_t most_rivals = 6;
constexpr std::size_t most_cases = 8;  // for each rival, and to test the best cause and each part of its condition
constexpr std::size_t for_each_condition = 2;
constexpr std::size_t most_confirming = 48;
constexpr std::size_t most_around = 4;  // tried at each place about a limit

std::size_t number_of_rivals(const std::vector<ScoredHypothesis>& weighed) {
  std::size_t count = 0;
  while (count + 1 < weighed.size() && weighed[count + 1].fit >= weighed[0].fit - a_tie) ++count;
  return count;
}

// Something to learn of the best cause, and how many cases shall still say it.
struct Question {
  std::function<bool(const Observation&, const PredictedOutcome& best)> is_answered_by;
  std::size_t left = most_cases;
};

// Whether the cause holds where it calls the kernel wrong; whether its condition needs each of its literals; and
// whether not another condition holds that fits as well.
void add_tests_of(const ScoredHypothesis& cause, std::vector<Question>& questions) {
  questions.push_back({[](const Observation&, const PredictedOutcome& best) { return best.says_wrong(); }});
  const auto add = [&](Condition other, std::size_t cases) {
    questions.push_back({[other = std::move(other)](const Observation&, const PredictedOutcome& best) {
                           return best.would_differ_under(other);
                         },
                         cases});
  };
  for (std::size_t i = 0; i < cause.condition.size(); ++i) {
    Condition fewer = cause.condition;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    add(std::move(fewer), most_cases);
  }
  for (const Condition& other : cause.other_conditions) add(other, for_each_condition);
}

// The literal that is the same in both conditions but for its limit or its size of blocks.
std::optional<std::size_t> where_limits_differ(const Condition& one, const Condition& other) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    const bool differs = one[i].limit != other[i].limit || one[i].block != other[i].block;
    if (one[i].what == other[i].what && one[i].op == other[i].op && differs) return i;
  }
  return std::nullopt;
}

}  // namespace

Rivals::Rivals(const SubjectReport& report, const Observations& seen, Examiner& examiner)
    : report_(report), seen_(seen), examiner_(examiner) {
  for (const Case& c : discriminating_cases(report, examiner.subject().claims(), seen)) {
    cases_.push_back(prepare(c, examiner));
  }
  named_.assign(cases_.size(), 0);
}

// Failing cases whose quantity lies between the limit that was seen and the loosest one, half of the way; and beyond
// the loosest, where the kernel must be right if the limit is one.
void Rivals::add_cases_around_limits(const ScoredHypothesis& cause) {
  for (std::size_t i = 0; i < cause.condition.size(); ++i) {
    const Literal& literal = cause.condition[i];
    const auto set = literal.is_counted() ? entry_of(std::get<Quantity>(literal.what)).set : nullptr;
    if (set == nullptr) continue;
    if (literal.is_of_places() || (literal.op != Comparison::at_least && literal.op != Comparison::at_most)) {
      add_cases_around_sizes(literal, set);
      continue;
    }
    std::int64_t loosest = literal.limit;
    for (const Condition& other : cause.other_conditions) {
      if (where_limits_differ(cause.condition, other) == i) loosest = other[i].limit;
    }
    const std::int64_t outwards = literal.op == Comparison::at_most ? 1 : -1;
    if (loosest != literal.limit) add_failing_cases(set, literal.limit + (loosest - literal.limit + outwards) / 2);
    // The next size may be none at all.
    for (const std::int64_t step : {1, 2}) add_failing_cases(set, loosest + step * outwards);
  }
}

// A number in a condition may stand for a remainder, and a place for the last or the first one of a block. So failing
// cases with a few more are tried, and with more blocks.
void Rivals::add_cases_around_sizes(const Literal& literal, void (*set)(Case&, std::int64_t)) {
  const std::int64_t size = std::max({literal.limit, literal.block, std::int64_t{1}});
  for (const std::int64_t count : {size + 1, size + 2, size + 4, 2 * size, 2 * size + 1, 3 * size, 3 * size + 1}) {
    add_failing_cases(set, count);
  }
}

void Rivals::add_failing_cases(void (*set)(Case&, std::int64_t), std::int64_t value) {
  const std::vector<Case> all =
      failing_cases_with([&](Case& changed) { set(changed, value); }, report_, examiner_.subject().claims(), seen_);
  for (const Case& c : std::span(all).first(std::min(all.size(), most_around))) {
    cases_.push_back(prepare(c, examiner_));
    named_.push_back(0);
  }
}

std::vector<Case> Rivals::deciding(const std::vector<ScoredHypothesis>& weighed, double least_fit) {
  std::vector<Question> questions;
  for (std::size_t r = 1; r <= std::min(number_of_rivals(weighed), most_rivals); ++r) {
    questions.push_back({[&rival = weighed[r]](const Observation& one, const PredictedOutcome& best) {
      return best.differs_from(PredictedOutcome(one, rival));
    }});
  }
  if (weighed[0].fit >= least_fit) {
    add_tests_of(weighed[0], questions);
    add_cases_around_limits(weighed[0]);
  }
  std::vector<Case> found;
  for (std::size_t i = 0; i < cases_.size() && !questions.empty(); ++i) {
    if (named_[i] != 0) continue;
    const PredictedOutcome best(*cases_[i], weighed[0]);
    bool decides = false;
    for (Question& question : questions) {
      if (!question.is_answered_by(*cases_[i], best)) continue;
      decides = true;
      --question.left;
    }
    std::erase_if(questions, [](const Question& question) { return question.left == 0; });
    if (!decides) continue;
    named_[i] = 1;
    found.push_back(cases_[i]->c);
  }
  return found;
}

std::vector<Case> Rivals::confirming(const ScoredHypothesis& cause) {
  if (!between_) between_ = cases_between(report_, examiner_.subject().claims(), seen_);
  std::vector<Case> found, left;
  for (Case& c : *between_) {
    const bool tells = found.size() < most_confirming && PredictedOutcome(*prepare(c, examiner_), cause).says_wrong();
    (tells ? found : left).push_back(std::move(c));
  }
  between_ = std::move(left);
  return found;
}

bool Rivals::has_open_limit(const ScoredHypothesis& cause) {
  return std::ranges::any_of(cause.other_conditions, [&](const Condition& other) {
    const std::optional<std::size_t> at = where_limits_differ(cause.condition, other);
    return at && !is_next_to(cause.condition[*at], other[*at]);
  });
}

bool Rivals::has_tie(const std::vector<ScoredHypothesis>& weighed) const {
  const auto begin = weighed.begin() + 1;
  return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(number_of_rivals(weighed)),
                     [&](const ScoredHypothesis& rival) {
                       return class_of(rival) != class_of(weighed[0]) || differ(rival, weighed[0]);
                     });
}

bool Rivals::differ(const ScoredHypothesis& a, const ScoredHypothesis& b) const {
  return std::any_of(cases_.begin(), cases_.end(), [&](const auto& one) {
    return PredictedOutcome(*one, a).differs_from(PredictedOutcome(*one, b));
  });
}

}  // namespace rope::diagnosis
