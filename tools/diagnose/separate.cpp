// The search for a condition that holds for every row on one side, and for few on the other.
#include <algorithm>

#include "tools/diagnose/literal.hpp"

namespace rope::diagnosis {
namespace {

constexpr std::size_t most_literals = 3;
constexpr double few_left = 0.01;          // of the rows on the other side: the search stops there
constexpr double least_gain = 0.1;         // a further literal must fail in at least this share of the remaining rows
constexpr double cost_of_counting = 0.05;  // a quantity can always be made to fit a little

double weight_of(const std::vector<SeenRow>& rows) {
  double sum = 0;
  for (const SeenRow& r : rows) sum += r.weight;
  return sum;
}

// A literal, and the test whether it holds.
struct Possible {
  Literal literal;
  std::function<bool(const SeenRow&)> holds;
};

double weight_where(const std::vector<SeenRow>& rows, const std::function<bool(const SeenRow&)>& holds) {
  double sum = 0;
  for (const SeenRow& r : rows) sum += holds(r) ? r.weight : 0;
  return sum;
}

void add_if_so(std::vector<Possible>& all, const std::vector<SeenRow>& with, const Literal& literal) {
  Possible possible{literal, predicate_of(literal)};
  if (std::all_of(with.begin(), with.end(), possible.holds)) all.push_back(std::move(possible));
}

void add_rules(std::vector<Possible>& all, const std::vector<SeenRow>& with) {
  const std::size_t unscaled = Scaling(scaling::None{}).index();
  for (std::size_t rule = 0; rule < std::variant_size_v<Scaling>; ++rule) {
    if (rule != unscaled) add_if_so(all, with, {UnderRule{rule}});
  }
}

void add_limits(std::vector<Possible>& all, const std::vector<SeenRow>& with, const QuantityEntry& quantity) {
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  for (const SeenRow& r : with) {
    least = std::min(least, quantity.of(r));
    most = std::max(most, quantity.of(r));
  }
  const auto add = [&](Comparison op, std::int64_t limit) {
    const Literal literal{quantity.what, op, limit};
    all.push_back({literal, predicate_of(literal)});
  };
  if (least == most) return add(Comparison::equal, least);
  add(Comparison::at_least, least);
  add(Comparison::at_most, most);
}

std::vector<Possible> all_that_hold(const std::vector<SeenRow>& with) {
  std::vector<Possible> all;
  const bool rows_known = std::none_of(with.begin(), with.end(), [](const SeenRow& r) { return r.whole; });
  for (const CircumstanceEntry& c : circumstances()) {
    if (c.of_row && !rows_known) continue;
    add_if_so(all, with, {c.what});
    if (c.what == Circumstance::unscaled) add_rules(all, with);
  }
  for (const QuantityEntry& q : quantities()) {
    if (!q.of_row || rows_known) add_limits(all, with, q);
  }
  return all;
}

}  // namespace

Condition separate(const std::vector<SeenRow>& with, const std::vector<SeenRow>& without) {
  Condition chosen;
  if (with.empty()) return chosen;
  const std::vector<Possible> possible = all_that_hold(with);
  std::vector<SeenRow> left = without;
  const double all = weight_of(without);
  while (chosen.size() < most_literals && weight_of(left) > few_left * all) {
    const Possible* best = nullptr;
    double least = weight_of(left);
    const double before = least;
    for (const Possible& one : possible) {
      const double remaining =
          weight_where(left, one.holds) + (one.literal.is_counted() ? cost_of_counting * before : 0);
      if (remaining < least * (1 - 1e-9)) {
        least = remaining;
        best = &one;
      }
    }
    if (best == nullptr || least > (1 - least_gain) * before) break;
    chosen.push_back(best->literal);
    std::erase_if(left, [&](const SeenRow& r) { return !best->holds(r); });
  }
  return chosen;
}

}  // namespace rope::diagnosis
