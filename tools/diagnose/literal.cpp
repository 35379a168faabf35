#include "tools/diagnose/literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rope::diagnosis {
namespace {

template <class... Of>
struct Overloaded : Of... {
  using Of::operator()...;
};

template <class... Of>
Overloaded(Of...) -> Overloaded<Of...>;  // clang 16 needs it

bool holds(const Literal& l, const QuantityEntry& quantity, const SeenRow& r) {
  const bool is_of_elements = quantity.scope == Scope::element;
  if (is_of_elements && r.feature < 0) return true;
  const std::int64_t value = quantity.of(r);
  if (is_of_elements && value < 0) return false;
  const auto in_whole_blocks = [&](std::int64_t least) {  // how many
    return std::max(quantity.count(r) / l.block, least) * l.block;
  };
  switch (l.op) {
    case Comparison::at_least: return value >= l.limit;
    case Comparison::at_most: return value <= l.limit;
    case Comparison::remainder: return value % l.block == l.limit;
    case Comparison::no_multiple: return value % l.block != 0;
    case Comparison::left_over: return value >= in_whole_blocks(is_of_elements ? 0 : 1);
    case Comparison::in_no_whole_block: return value >= in_whole_blocks(0);
    case Comparison::in_whole_blocks: return value < in_whole_blocks(0);
    case Comparison::before_last_block: return value < (quantity.count(r) - 1) / l.block * l.block;
    case Comparison::last: return value == quantity.count(r) - 1;
    case Comparison::so:
    case Comparison::equal: break;
  }
  return value == l.limit;
}

std::string words_of_quantity(const Literal& l, const QuantityEntry& quantity) {
  switch (l.op) {
    case Comparison::at_least:
      if (quantity.scope == Scope::element && l.limit == 0) return std::string(quantity.of_all);
      return fmt::format("{} {} or more", quantity.words, l.limit);
    case Comparison::at_most: return fmt::format("{} {} or less", quantity.words, l.limit);
    case Comparison::remainder:
      if (quantity.count != nullptr) return fmt::format("{} {} of each {}", quantity.words, l.limit, l.block);
      if (l.block == 2) return fmt::format("an {} {}", l.limit == 0 ? "even" : "odd", quantity.words);
      if (l.limit == 0) return fmt::format("{} a multiple of {}", quantity.words, l.block);
      return fmt::format("{} modulo {} is {}", quantity.words, l.block, l.limit);
    case Comparison::no_multiple: return fmt::format("{} no multiple of {}", quantity.words, l.block);
    case Comparison::left_over: return fmt::format("{} left over from blocks of {}", quantity.plural, l.block);
    case Comparison::in_no_whole_block: return fmt::format("{} in no whole block of {}", quantity.plural, l.block);
    case Comparison::in_whole_blocks: return fmt::format("{} in whole blocks of {}", quantity.plural, l.block);
    case Comparison::before_last_block: return fmt::format("{} before the last block of {}", quantity.plural, l.block);
    case Comparison::last: return fmt::format("the last of the {}", quantity.plural);
    case Comparison::so:
    case Comparison::equal: break;
  }
  return fmt::format("{} {}", quantity.words, l.limit);
}

}  // namespace

bool Literal::is_of_places() const {
  if (is_counted()) return entry_of(std::get<Quantity>(what)).count != nullptr;
  const auto* circumstance = std::get_if<Circumstance>(&what);
  return circumstance != nullptr && *circumstance >= Circumstance::tokens_past_heads &&
         *circumstance <= Circumstance::batches_past_heads;
}

bool has(const Condition& condition, Circumstance circumstance) {
  return std::any_of(condition.begin(), condition.end(), [&](const Literal& l) { return l.is(circumstance); });
}

Condition elements_of(const Condition& condition) {
  Condition of_elements;
  std::ranges::copy_if(condition, std::back_inserter(of_elements), &Literal::is_of_elements);
  return of_elements;
}

std::function<bool(const SeenRow&)> predicate_of(const Literal& literal) {
  using Predicate = std::function<bool(const SeenRow&)>;
  return std::visit(Overloaded{[](Circumstance c) -> Predicate { return entry_of(c).holds; },
                               [](UnderRule under) -> Predicate {
                                 return [=](const SeenRow& r) { return r.seen->c.spec.scaling.index() == under.rule; };
                               },
                               [&](Quantity q) -> Predicate {
                                 return [&entry = entry_of(q), literal](const SeenRow& r) {
                                   return holds(literal, entry, r);
                                 };
                               }},
                    literal.what);
}

std::vector<std::function<bool(const SeenRow&)>> predicates_of(const Condition& condition) {
  std::vector<std::function<bool(const SeenRow&)>> all;
  for (const Literal& l : condition) all.push_back(predicate_of(l));
  return all;
}

std::string words_of(const Literal& literal) {
  return std::visit(Overloaded{[](Circumstance c) { return std::string(entry_of(c).words); },
                               [](UnderRule under) { return fmt::format("{} scaling", scaling_kinds[under.rule]); },
                               [&](Quantity q) { return words_of_quantity(literal, entry_of(q)); }},
                    literal.what);
}

std::string words_of(const Condition& condition) {
  std::string text;
  for (const Literal& l : condition) text += (text.empty() ? "only " : ", ") + words_of(l);
  return text;
}

bool has_gap(const Condition& condition, const Observations& seen) {
  const auto is_wrong_between = [&](const Literal& low, const Literal& high) {
    const auto of = entry_of(std::get<Quantity>(low.what)).of;
    return std::ranges::any_of(seen, [&](const auto& one) {
      for (std::size_t row = 0; row < one->rows.size(); ++row) {
        const SeenRow at{one.get(), row};
        if (one->wrong[row] && of(at) > low.limit && of(at) < high.limit) return true;
      }
      return false;
    });
  };
  for (const Literal& low : condition) {
    for (const Literal& high : condition) {
      const bool is_range = low.is_counted() && !low.is_of_elements() && low.what == high.what &&
                            low.op == Comparison::at_least && high.op == Comparison::at_most &&
                            high.limit - low.limit > 1;
      if (is_range && !is_wrong_between(low, high)) return true;
    }
  }
  return false;
}

}  // namespace rope::diagnosis
