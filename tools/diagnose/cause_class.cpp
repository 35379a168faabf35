#include "tools/diagnose/cause_class.hpp"

#include <algorithm>

namespace rope::diagnosis {
namespace {

using std::any_of;

// If a condition speaks for several classes, the first of these is meant. Every class that a circumstance speaks for is
// listed here.
constexpr BugClass precedence[] = {
    BugClass::special_values,      BugClass::backward,
    BugClass::multi_axis,          BugClass::scaling_config,
    BugClass::strides_memory_race, BugClass::partial_passthrough,
    BugClass::table_cache,         BugClass::launch_limits,
    BugClass::heads_batch_qk,      BugClass::precision,
    BugClass::varlen_packing_cp,   BugClass::position_offset,
};

// No kernel handles this many in one loop, so the number comes from a grid or a block.
constexpr std::int64_t too_many_for_a_loop = 1000;

bool is_number(const Literal& l) {
  return l.is(Quantity::number_of_heads) || l.is(Quantity::number_of_tokens) || l.is(Quantity::number_of_batches);
}

std::optional<BugClass> spoken_for(const Literal& l) {
  if (std::holds_alternative<UnderRule>(l.what)) return BugClass::scaling_config;
  const auto* circumstance = std::get_if<Circumstance>(&l.what);
  return circumstance == nullptr ? std::nullopt : entry_of(*circumstance).speaks_for;
}

std::optional<BugClass> spoken_for_by_limit(const Literal& l) {
  if (l.is_of_places() && l.limit >= too_many_for_a_loop) return BugClass::launch_limits;
  if (l.is(Quantity::head_dim) && l.limit >= too_many_for_a_loop) return BugClass::launch_limits;
  if (l.is(Quantity::number_of_heads) || l.is(Quantity::head)) return BugClass::heads_batch_qk;
  return std::nullopt;
}

// Rows and elements that are left out from a power of two on, behind the last whole block, or in calls with many of
// something, were not reached by a launch.
bool is_of_a_launch(const Literal& l) {
  if (l.is_of_places() && l.is_of_blocks()) return true;
  const bool many = is_number(l) && l.op != Comparison::at_most && l.limit > 8;
  const bool from_a_power =
      l.is_of_places() && l.op == Comparison::at_least && l.limit >= 8 && (l.limit & (l.limit - 1)) == 0;
  return many || from_a_power;
}

// Elements that are copied or left out: by their number, or where they should pass through.
std::optional<BugClass> class_of_some_elements(const Condition& c) {
  for (const Literal& l : c) {
    if (l.is(Quantity::passed_feature)) return BugClass::partial_passthrough;
    if (l.is_of_elements()) return BugClass::launch_limits;
  }
  return std::nullopt;
}

bool is_of_one_size(const Literal& l) {
  return l.is(Quantity::head_dim) && l.op == Comparison::equal && l.limit < too_many_for_a_loop;
}

bool only_own_angles(const Condition& c) {
  return has(c, Circumstance::computed_angles) || has(c, Circumstance::frequencies_given) ||
         has(c, Circumstance::no_tables_given);
}

bool only_in_one_tensor(const Condition& c) { return has(c, Circumstance::in_q) || has(c, Circumstance::in_k); }

bool only_some_batches(const Condition& c) {
  return has(c, Circumstance::past_first_batch) || has(c, Circumstance::several_batches);
}

bool only_some_heads(const Condition& c) {
  return has(c, Circumstance::past_first_head) || has(c, Circumstance::fewer_heads_in_k) ||
         has(c, Circumstance::several_heads);
}

// "Nothing is rotated" says nothing; the condition under which it happens decides. If only k stays, k was not written.
BugClass class_of_unrotated(const ScoredHypothesis& cause, BugClass spoken) {
  const Condition& c = cause.condition;
  if (any_of(c.begin(), c.end(), is_of_a_launch)) return BugClass::launch_limits;
  if (only_some_batches(c) && has(c, Circumstance::positions_for_each_batch)) return BugClass::varlen_packing_cp;
  return has(c, Circumstance::in_k) && !only_some_heads(c) ? cause.hypothesis->bug_class : spoken;
}

// A condition says more than a wrong position or row, which look like many mistakes. Other hypotheses say more than it.
BugClass class_of_values(const Hypothesis& h, BugClass spoken) {
  const bool vague =
      h.bug_class == BugClass::position_offset || h.bug_class == BugClass::table_cache || h.change.position;
  const bool of_rule = spoken == BugClass::scaling_config;
  if (vague && (of_rule || spoken == BugClass::multi_axis)) return spoken;
  if (h.bug_class == BugClass::scaling_config && spoken == BugClass::table_cache && h.change.params) return spoken;
  if (h.bug_class == BugClass::pipeline && of_rule) return spoken;
  return h.bug_class;
}

// For a condition that speaks for no class.
BugClass class_by_hypothesis(const ScoredHypothesis& cause) {
  const Hypothesis& h = *cause.hypothesis;
  const Condition& c = cause.condition;
  if (!h.unrotated) return h.bug_class;
  if (const auto of_elements = class_of_some_elements(c)) return *of_elements;
  // If exactly one size is not rotated, its specialisation is empty: kernels choose sizes and types together
  // (PREC-11).
  if (any_of(c.begin(), c.end(), is_of_one_size)) return BugClass::precision;
  return any_of(c.begin(), c.end(), is_of_a_launch) ? BugClass::launch_limits : h.bug_class;
}

}  // namespace

std::optional<BugClass> class_of_condition(const Condition& condition) {
  for (const BugClass bug_class : precedence) {
    if (any_of(condition.begin(), condition.end(), [&](const Literal& l) { return spoken_for(l) == bug_class; })) {
      return bug_class;
    }
  }
  for (const Literal& l : condition) {
    if (const auto bug_class = spoken_for_by_limit(l)) return bug_class;
  }
  return std::nullopt;
}

bool is_of_large_positions(const ScoredHypothesis& cause) {
  // No table is this long. No rule begins there, and the only counters that end there have 2^31. So it is the angles.
  constexpr std::int64_t large = 1 << 20;
  return any_of(cause.condition.begin(), cause.condition.end(), [](const Literal& l) {
    return l.is(Quantity::position) && l.op == Comparison::at_least && l.limit >= large;
  });
}

BugClass class_of(const ScoredHypothesis& cause) {
  const Hypothesis& h = *cause.hypothesis;
  const Condition& c = cause.condition;
  if (is_of_large_positions(cause)) return BugClass::precision;
  const std::optional<BugClass> spoken = class_of_condition(c);
  if (h.short_table && only_own_angles(c)) return BugClass::table_cache;
  if (!spoken) return class_by_hypothesis(cause);
  // In one tensor, an extra turn is a step too many. In both, rows were read again after they had been written.
  if (h.turns_again && has(c, Circumstance::in_place) && !only_in_one_tensor(c)) return BugClass::strides_memory_race;
  // The pass that is wrong is the bug, whatever else the pass gets wrong.
  if (has(c, Circumstance::backward)) return BugClass::backward;
  if (spoken == BugClass::special_values) return *spoken;
  return h.unrotated ? class_of_unrotated(cause, *spoken) : class_of_values(h, *spoken);
}

}  // namespace rope::diagnosis
