#include "tools/judge/case/demand.hpp"

namespace rope {

std::span<const DemandWord> demand_words() {
  static constexpr DemandWord words[] = {
      {Demand::bitwise, "bitwise", "relations between calls hold bit for bit, not only within the bound"},
      {Demand::batch_invariant, "batch-invariant", "the bits of a row do not depend on what else is in the call"},
      {Demand::robust, "robust", "bad arguments are refused; empty, subnormal and concurrent calls are served"},
  };
  return words;
}

std::optional<Demand> demand_from_word(std::string_view word) {
  for (const DemandWord& known : demand_words()) {
    if (known.word == word) return known.demand;
  }
  return std::nullopt;
}

}  // namespace rope
