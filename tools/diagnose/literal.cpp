#include "tools/diagnose/literal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rope::diagnosis {
namespace {

template <class... Of>
struct Overloaded : Of... {
  using Of::operator()...;
};

template <class... Of>
Overloaded(Of...) -> Overloaded<Of...>;  // clang 16 needs it

}  // namespace

bool has(const Condition& condition, Circumstance circumstance) {
  return std::any_of(condition.begin(), condition.end(), [&](const Literal& l) { return l.is(circumstance); });
}

std::function<bool(const SeenRow&)> predicate_of(const Literal& literal) {
  using Predicate = std::function<bool(const SeenRow&)>;
  return std::visit(Overloaded{[](Circumstance c) -> Predicate { return entry_of(c).holds; },
                               [](UnderRule under) -> Predicate {
                                 return [=](const SeenRow& r) { return r.seen->c.spec.scaling.index() == under.rule; };
                               },
                               [&](Quantity q) -> Predicate {
                                 return
                                     [of = entry_of(q).of, op = literal.op, limit = literal.limit](const SeenRow& r) {
                                       const std::int64_t value = of(r);
                                       switch (op) {
                                         case Comparison::at_least: return value >= limit;
                                         case Comparison::at_most: return value <= limit;
                                         case Comparison::so:
                                         case Comparison::equal: break;
                                       }
                                       return value == limit;
                                     };
                               }},
                    literal.what);
}

std::string words_of(const Literal& literal) {
  return std::visit(Overloaded{[](Circumstance c) { return std::string(entry_of(c).words); },
                               [](UnderRule under) { return fmt::format("{} scaling", scaling_kinds[under.rule]); },
                               [&](Quantity q) {
                                 const char* more_or_less = literal.op == Comparison::at_least  ? " or more"
                                                            : literal.op == Comparison::at_most ? " or less"
                                                                                                : "";
                                 return fmt::format("{} {}{}", entry_of(q).words, literal.limit, more_or_less);
                               }},
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
      const bool is_range = low.is_counted() && low.what == high.what && low.op == Comparison::at_least &&
                            high.op == Comparison::at_most && high.limit - low.limit > 1;
      if (is_range && !is_wrong_between(low, high)) return true;
    }
  }
  return false;
}

}  // namespace rope::diagnosis
