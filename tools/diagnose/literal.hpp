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

enum class Comparison {
  so,
  equal,
  at_least,
  at_most,
  remainder,  // of a division by `block`
  no_multiple,
  // Of a place, as loops and launches divide what they do:
  left_over,          // behind the last whole block; of rows, of which at least one block is always started
  in_no_whole_block,  // of rows: also where there are fewer than a block
  in_whole_blocks,    // neither
  before_last_block,  // before the last block, whole or not
  last,
};

struct Literal {
  std::variant<Circumstance, UnderRule, Quantity> what;
  Comparison op = Comparison::so;  // only quantities have other ones
  std::int64_t limit = 0;          // of a quantity
  std::int64_t block = 0;          // the size of blocks, or what is divided by

  bool operator==(const Literal&) const = default;

  bool is(Circumstance circumstance) const { return what == decltype(what)(circumstance); }
  bool is(Quantity quantity) const { return what == decltype(what)(quantity); }
  bool is_counted() const { return std::holds_alternative<Quantity>(what); }
  bool names_one_place() const {  // "head 1"
    return op == Comparison::equal && (is(Quantity::head) || is(Quantity::token) || is(Quantity::batch));
  }
  bool is_of_elements() const { return is_counted() && entry_of(std::get<Quantity>(what)).scope == Scope::element; }
  bool is_of_blocks() const { return op > Comparison::at_most; }
  bool is_of_places() const;  // "token 64 or more", "in tokens from the number of heads on"
  bool names_a_rule() const { return std::holds_alternative<UnderRule>(what); }
};

using Condition = std::vector<Literal>;

bool has(const Condition& condition, Circumstance circumstance);
Condition elements_of(const Condition& condition);  // the literals about elements

// What a literal costs in the fit of a cause (README.md): a circumstance, a limit, a place in blocks of some size.
double cost_of(const Literal& literal);

// Of a whole row, a literal about elements always holds.
std::function<bool(const SeenRow&)> predicate_of(const Literal& literal);
std::vector<std::function<bool(const SeenRow&)>> predicates_of(const Condition& condition);

std::string words_of(const Literal& literal);      // "in place", "head_dim 64 or more", "pair 3 of each 4"
std::string words_of(const Condition& condition);  // "only in place, several batches"; empty for an empty condition

// A few literals that hold for all rows of `with` and for as few of `without` as possible. Of elements, literals about
// their places in a row.
Condition separate(const std::vector<SeenRow>& with, const std::vector<SeenRow>& without);

// Conditions that these rows cannot tell from one of separate(): one literal is another, or its limit is the loosest.
std::vector<Condition> others_as_good(const Condition& condition, const std::vector<SeenRow>& with,
                                      const std::vector<SeenRow>& without);

// Whether two limits of a quantity are one step apart, or the same. Two sizes of blocks never are.
bool is_next_to(const Literal& one, const Literal& other);

// Whether two limits of one quantity have no wrong row between them: there may be two values, and not a range.
bool has_gap(const Condition& condition, const Observations& seen);

// Leaves out the limits that may lie elsewhere, because `without` has nothing next to them.
Condition without_open_limits(Condition condition, const std::vector<SeenRow>& without);

}  // namespace rope::diagnosis
