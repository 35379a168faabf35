// A literal: one thing that must hold for a bug to show. A condition is a few of them.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "tools/diagnose/circumstance.hpp"

namespace rope::diagnosis {

// One scaling rule, by its index among the alternatives of Scaling.
struct UnderRule {
  std::size_t rule = 0;
  bool operator==(const UnderRule&) const = default;
};

enum class Comparison { so, equal, at_least, at_most };

struct Literal {
  std::variant<Circumstance, UnderRule, Quantity> what;
  Comparison op = Comparison::so;  // only quantities have other ones
  std::int64_t limit = 0;          // of a quantity

  bool operator==(const Literal&) const = default;

  bool is(Circumstance circumstance) const { return what == decltype(what)(circumstance); }
  bool is(Quantity quantity) const { return what == decltype(what)(quantity); }
  bool is_counted() const { return std::holds_alternative<Quantity>(what); }
  bool names_one_place() const {  // "head 1"
    return op == Comparison::equal && (is(Quantity::head) || is(Quantity::token) || is(Quantity::batch));
  }
  bool names_a_rule() const { return std::holds_alternative<UnderRule>(what); }
};

using Condition = std::vector<Literal>;

bool has(const Condition& condition, Circumstance circumstance);

std::function<bool(const SeenRow&)> predicate_of(const Literal& literal);

std::string words_of(const Literal& literal);      // "in place", "head_dim 64 or more"
std::string words_of(const Condition& condition);  // "only in place, several batches"; empty for an empty condition

// A few literals that hold for all rows of `with` and for as few of `without` as possible.
Condition separate(const std::vector<SeenRow>& with, const std::vector<SeenRow>& without);

// Conditions that these rows cannot tell from one of separate(): one literal is another, or its limit is the loosest.
std::vector<Condition> others_as_good(const Condition& condition, const std::vector<SeenRow>& with,
                                      const std::vector<SeenRow>& without);

// Whether two limits of a quantity are one step apart, or the same.
bool is_next_to(const Literal& one, const Literal& other);

// Whether two limits of one quantity have no wrong row between them: there may be two values, and not a range.
bool has_gap(const Condition& condition, const Observations& seen);

// Leaves out the limits that may lie elsewhere, because `without` has nothing next to them.
Condition without_open_limits(Condition condition, const std::vector<SeenRow>& without);

}  // namespace rope::diagnosis
