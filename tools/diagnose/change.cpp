// Combines two changes of the model into one.
#include <utility>

#include "tools/diagnose/model.hpp"

namespace rope::diagnosis {
namespace {

// For a stage that both change: the second change replaces the first.
template <class Result, class... Args>
std::function<Result(Args...)> chosen(const std::function<Result(Args...)>& first,
                                      const std::function<Result(Args...)>& then) {
  return then ? then : first;
}

// For a stage that modifies its input: both changes apply.
template <class... Args>
std::function<void(Args...)> in_turn(const std::function<void(Args...)>& first,
                                     const std::function<void(Args...)>& then) {
  if (!first || !then) return chosen(first, then);
  return [=](Args... args) {
    first(args...);
    then(args...);
  };
}

using OfPosition = std::function<long double(const RowContext&, int axis, long double)>;

OfPosition in_turn(const OfPosition& first, const OfPosition& then) {
  if (!first || !then) return chosen(first, then);
  return [=](const RowContext& s, int axis, long double p) { return then(s, axis, first(s, axis, p)); };
}

}  // namespace

Change both(const Change& first, const Change& then) {
  // Names all members, so this does not compile after a member is added to Change.
  const auto& [params, theta, position, pairs, pair_of, factors_of, axis_of, angle, turn, table, row, direct, source,
               operand_key, index, load, rotate, store, pass, write, heads, table_dtype, beside, skips, still, by_head,
               makes, rereads, writes_elsewhere, adds] = first;
  return {
      .params = in_turn(params, then.params),
      .theta = in_turn(theta, then.theta),
      .position = in_turn(position, then.position),
      .pairs = chosen(pairs, then.pairs),
      .pair_of = chosen(pair_of, then.pair_of),
      .factors_of = chosen(factors_of, then.factors_of),
      .axis_of = chosen(axis_of, then.axis_of),
      .angle = chosen(angle, then.angle),
      .turn = chosen(turn, then.turn),
      .table = chosen(table, then.table),
      .row = in_turn(row, then.row),
      .direct = chosen(direct, then.direct),
      .source = chosen(source, then.source),
      .operand_key = chosen(operand_key, then.operand_key),
      .index = chosen(index, then.index),
      .load = chosen(load, then.load),
      .rotate = chosen(rotate, then.rotate),
      .store = chosen(store, then.store),
      .pass = chosen(pass, then.pass),
      .write = chosen(write, then.write),
      .heads = chosen(heads, then.heads),
      .table_dtype = chosen(table_dtype, then.table_dtype),
      .beside = chosen(beside, then.beside),
      .skips = chosen(skips, then.skips),
      .still = chosen(still, then.still),
      .by_head = by_head || then.by_head,
      .makes = then.makes == Factors::both ? makes : then.makes,
      .rereads = rereads || then.rereads,
      .writes_elsewhere = writes_elsewhere || then.writes_elsewhere,
      .adds = adds || then.adds,
  };
}

}  // namespace rope::diagnosis
