// Two changes of the model made one.
#include "tests/diagnosis/model.hpp"

namespace rope::diagnosis {
namespace {

template <class Result, class... Args>
std::function<Result(Args...)> chosen(const std::function<Result(Args...)>& first,
                                      const std::function<Result(Args...)>& then) {
  return then ? then : first;
}

}  // namespace

Change both(const Change& first, const Change& then) {
  Change c = then;
  if (first.params && then.params) {
    c.params = [a = first.params, b = then.params](const Call& call, Params& p) { a(call, p), b(call, p); };
  } else {
    c.params = chosen(first.params, then.params);
  }
  if (first.theta && then.theta) {
    c.theta = [a = first.theta, b = then.theta](const Spot& s, std::vector<long double>& t) { a(s, t), b(s, t); };
  } else {
    c.theta = chosen(first.theta, then.theta);
  }
  if (first.position && then.position) {
    c.position = [a = first.position, b = then.position](const Spot& s, int axis, long double p) {
      return b(s, axis, a(s, axis, p));
    };
  } else {
    c.position = chosen(first.position, then.position);
  }
  if (first.row && then.row) {
    c.row = [a = first.row, b = then.row](const Spot& s, const PairList& p, Row& r) { a(s, p, r), b(s, p, r); };
  } else {
    c.row = chosen(first.row, then.row);
  }
  c.pairs = chosen(first.pairs, then.pairs);
  c.pair_of = chosen(first.pair_of, then.pair_of);
  c.angle = chosen(first.angle, then.angle);
  c.turn = chosen(first.turn, then.turn);
  c.table = chosen(first.table, then.table);
  c.direct = chosen(first.direct, then.direct);
  c.source = chosen(first.source, then.source);
  c.operand_key = chosen(first.operand_key, then.operand_key);
  c.index = chosen(first.index, then.index);
  c.load = chosen(first.load, then.load);
  c.rotate = chosen(first.rotate, then.rotate);
  c.store = chosen(first.store, then.store);
  c.pass = chosen(first.pass, then.pass);
  c.write = chosen(first.write, then.write);
  c.heads = chosen(first.heads, then.heads);
  c.skips = chosen(first.skips, then.skips);
  c.still = chosen(first.still, then.still);
  c.beside = chosen(first.beside, then.beside);
  c.table_dtype = chosen(first.table_dtype, then.table_dtype);
  c.by_head = first.by_head || then.by_head;
  c.rereads = first.rereads || then.rereads;
  return c;
}

}  // namespace rope::diagnosis
