// The search for conditions that hold for every row on one side, and for few on the other.
#include <algorithm>
#include <cstdlib>

#include "tools/diagnose/literal.hpp"

namespace rope::diagnosis {
namespace {

constexpr std::size_t most_literals = 3;
constexpr double few_left = 0.01;          // of the rows on the other side: the search stops there
constexpr double least_gain = 0.1;         // a further literal must fail in at least this share of the remaining rows
constexpr double cost_of_counting = 0.05;  // a quantity can always be made to fit a little
constexpr double cost_of_blocks = 0.1;     // and blocks of some size more so: there are many sizes, and several places

double first_cost_of(const Literal& literal) {
  return literal.is_of_blocks() ? cost_of_blocks : literal.is_counted() ? cost_of_counting : 0;
}

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
  if (least < 0 && quantity.scope == Scope::element) return;  // some element has none
  const auto add = [&](Comparison op, std::int64_t limit) {
    const Literal literal{quantity.what, op, limit};
    all.push_back({literal, predicate_of(literal)});
  };
  if (least == most) return add(Comparison::equal, least);
  add(Comparison::at_least, least);
  add(Comparison::at_most, most);
}

// How loops and launches divide so many things.
void add_blocks(std::vector<Possible>& all, const std::vector<SeenRow>& with, const QuantityEntry& place) {
  add_if_so(all, with, {place.what, Comparison::last});
  std::int64_t most = 0;
  for (const SeenRow& r : with) most = std::max(most, place.count(r));
  // Threads that get equal shares leave over what blocks of so many leave over.
  for (const std::int64_t block : {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 3, 5, 6, 7}) {
    if (block > most) continue;
    for (const Comparison op : {Comparison::left_over, Comparison::in_no_whole_block, Comparison::in_whole_blocks,
                                Comparison::before_last_block}) {
      if (place.scope == Scope::element && op == Comparison::in_no_whole_block) continue;  // the same as left_over
      add_if_so(all, with, {place.what, op, 0, block});
    }
  }
}

void add_remainders(std::vector<Possible>& all, const std::vector<SeenRow>& with, const QuantityEntry& quantity) {
  const std::int64_t first = quantity.of(with.front());
  for (const std::int64_t block : {2, 3, 4, 8}) {
    add_if_so(all, with, {quantity.what, Comparison::remainder, first % block, block});
  }
  if (quantity.scope != Scope::call) return;
  for (std::int64_t block = 16; block <= 128; block *= 2) {
    add_if_so(all, with, {quantity.what, Comparison::remainder, 0, block});
  }
  for (std::int64_t block = 4; block <= 128; block *= 2) {
    add_if_so(all, with, {quantity.what, Comparison::no_multiple, 0, block});
  }
}

std::vector<Possible> all_that_hold(const std::vector<SeenRow>& with) {
  std::vector<Possible> all;
  const bool rows_known = std::none_of(with.begin(), with.end(), [](const SeenRow& r) { return r.whole; });
  const bool are_elements = with.front().feature >= 0;
  for (const CircumstanceEntry& c : circumstances()) {
    if (are_elements || (c.of_row && !rows_known)) continue;
    add_if_so(all, with, {c.what});
    if (c.what == Circumstance::unscaled) add_rules(all, with);
  }
  const auto is_of_these = [&](const QuantityEntry& q) {
    return are_elements == (q.scope == Scope::element) && (q.scope == Scope::call || rows_known);
  };
  for (const QuantityEntry& q : quantities()) {
    if (is_of_these(q)) add_limits(all, with, q);
  }
  for (const QuantityEntry& q : quantities()) {
    if (!is_of_these(q)) continue;
    add_remainders(all, with, q);
    if (q.count != nullptr) add_blocks(all, with, q);
  }
  return all;
}

// What holds for all rows of `with` and leaves out some of `without`.
std::vector<Possible> all_that_separate(const std::vector<SeenRow>& with, const std::vector<SeenRow>& without) {
  std::vector<Possible> all = all_that_hold(with);
  std::erase_if(all, [&](const Possible& one) { return std::ranges::all_of(without, one.holds); });
  return all;
}

// The rows for which a condition would hold without one of its literals.
std::vector<SeenRow> held_without(const Condition& condition, std::size_t literal, std::vector<SeenRow> rows) {
  for (std::size_t i = 0; i < condition.size(); ++i) {
    if (i == literal) continue;
    std::erase_if(rows, [holds = predicate_of(condition[i])](const SeenRow& row) { return !holds(row); });
  }
  return rows;
}

// A literal that was chosen first may leave out nothing more than the later ones.
void drop_what_says_nothing(Condition& chosen, const std::vector<SeenRow>& without) {
  for (std::size_t i = 0; chosen.size() > 1 && i < chosen.size();) {
    if (std::ranges::all_of(held_without(chosen, i, without), predicate_of(chosen[i]))) {
      chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

// What was chosen first left out most by itself. Beside the others, another literal may leave out more, or as much in
// fewer words. `all` is the weight of the rows that the condition explains.
void improve(Condition& chosen, const std::vector<Possible>& possible, double all,
             const std::vector<SeenRow>& without) {
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::vector<SeenRow> left = held_without(chosen, i, without);
    const auto cost = [&](const Literal& literal, const std::function<bool(const SeenRow&)>& holds) {
      const double against = weight_where(left, holds);
      return against / (all + against) + cost_of(literal);
    };
    double least = cost(chosen[i], predicate_of(chosen[i]));
    for (const Possible& one : possible) {
      const double of_this = cost(one.literal, one.holds);
      if (of_this >= least - 1e-9) continue;
      least = of_this;
      chosen[i] = one.literal;
    }
  }
}

void put_ranges_in_order(Condition& chosen) {
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (std::size_t j = i + 1; j < chosen.size(); ++j) {
      const bool is_range = chosen[i].what == chosen[j].what && chosen[i].op == Comparison::at_most &&
                            chosen[j].op == Comparison::at_least;
      if (is_range) std::swap(chosen[i], chosen[j]);
    }
  }
}

// The loosest limit that still leaves out every row that it leaves out now.
std::optional<Literal> loosest(const Literal& literal, const std::vector<SeenRow>& rows) {
  if (literal.op != Comparison::at_least && literal.op != Comparison::at_most) return std::nullopt;
  const auto holds = predicate_of(literal);
  const QuantityEntry& quantity = entry_of(std::get<Quantity>(literal.what));
  std::optional<std::int64_t> closest;
  for (const SeenRow& row : rows) {
    if (holds(row)) continue;
    const std::int64_t value = quantity.of(row);
    if (!closest) closest = value;
    closest = literal.op == Comparison::at_least ? std::max(*closest, value) : std::min(*closest, value);
  }
  if (!closest) return std::nullopt;
  Literal other = literal;
  other.limit = literal.op == Comparison::at_least ? *closest + 1 : *closest - 1;
  return other == literal ? std::nullopt : std::optional(other);
}

}  // namespace

double cost_of(const Literal& literal) {
  constexpr double of_a_circumstance = 0.003, of_a_limit = 0.006, of_blocks = 0.009;
  return literal.is_of_blocks() ? of_blocks : literal.is_counted() ? of_a_limit : of_a_circumstance;
}

bool is_next_to(const Literal& one, const Literal& other) {
  return one.block == other.block && std::abs(one.limit - other.limit) <= 1;  // odd sizes may be none at all
}

Condition separate(const std::vector<SeenRow>& with, const std::vector<SeenRow>& without) {
  Condition chosen;
  if (with.empty()) return chosen;
  const std::vector<Possible> possible = all_that_separate(with, without);
  std::vector<SeenRow> left = without;
  const double all = weight_of(without);
  while (chosen.size() < most_literals && weight_of(left) > few_left * all) {
    const Possible* best = nullptr;
    double least = weight_of(left);
    const double before = least;
    for (const Possible& one : possible) {
      const double remaining = weight_where(left, one.holds) + first_cost_of(one.literal) * before;
      if (remaining < least * (1 - 1e-9)) {
        least = remaining;
        best = &one;
      }
    }
    if (best == nullptr || least > (1 - least_gain) * before) break;
    chosen.push_back(best->literal);
    std::erase_if(left, [&](const SeenRow& r) { return !best->holds(r); });
  }
  drop_what_says_nothing(chosen, without);
  improve(chosen, possible, weight_of(with), without);
  put_ranges_in_order(chosen);
  return chosen;
}

std::vector<Condition> others_as_good(const Condition& condition, const std::vector<SeenRow>& with,
                                      const std::vector<SeenRow>& without) {
  std::vector<Condition> all;
  if (condition.empty()) return all;
  const std::vector<Possible> possible = all_that_separate(with, without);
  for (std::size_t i = 0; i < condition.size(); ++i) {
    const std::vector<SeenRow> left = held_without(condition, i, without);
    const double least = weight_where(left, predicate_of(condition[i]));
    const auto add = [&](const Literal& instead) {
      all.push_back(condition);
      all.back()[i] = instead;
    };
    for (const Possible& one : possible) {
      const bool is_new = std::ranges::none_of(condition, [&](const Literal& l) { return l == one.literal; });
      if (is_new && weight_where(left, one.holds) <= least) add(one.literal);
    }
    if (const std::optional<Literal> looser = loosest(condition[i], left)) add(*looser);
  }
  return all;
}

Condition without_open_limits(Condition condition, const std::vector<SeenRow>& without) {
  for (std::size_t i = condition.size(); i-- > 0;) {
    const std::optional<Literal> other = loosest(condition[i], held_without(condition, i, without));
    if (other && !is_next_to(*other, condition[i])) condition.erase(condition.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return condition;
}

}  // namespace rope::diagnosis
