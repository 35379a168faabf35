// CaseChange: other cases that differ from one in a single field. Shrinking tries the simpler ones. The diagnosis runs
// a case's neighbours.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "tools/judge/case/case.hpp"

namespace rope {

struct CaseChange {
  int turn;  // over all fields, the lowest are tried first; of equal ones, the first in the table
  std::function<void(const Case&, std::vector<Case>&)> propose;  // equal cases are dropped later
};

namespace case_change {

template <class Made>
CaseChange by(int turn, Made make) {
  return {turn, [=](const Case& c, std::vector<Case>& out) { make(out.emplace_back(c)); }};
}

// `access`: a pointer to a member, or a function that gives the field of a case.
template <class Access, class Value>
CaseChange to(int turn, Access access, Value value) {
  return by(turn, [=](Case& c) { std::invoke(access, c) = value; });
}

template <class Access>
CaseChange to_default(int turn, Access access) {
  return by(turn, [=, plain = Case{}](Case& c) { std::invoke(access, c) = std::invoke(access, plain); });
}

// To one value, or from it to another.
template <class Access, class Value>
CaseChange between(int turn, Access access, Value one, Value other) {
  return by(turn, [=](Case& c) {
    auto& field = std::invoke(access, c);
    field = field == one ? other : one;
  });
}

template <class Number>
CaseChange at_most_one(int turn, Number Case::*field) {
  return by(turn, [=](Case& c) { c.*field = std::min<Number>(c.*field, 1); });
}

// Takes n/2, n/4, .. 1 from n: finds any limit within n in a few steps.
template <class Number>
CaseChange ever_less(int turn, Number Case::*field) {
  return {turn, [=](const Case& c, std::vector<Case>& out) {
            for (Number less = c.*field / 2; less > 0; less /= 2) out.emplace_back(c).*field -= less;
          }};
}

CaseChange other_dims(int turn);           // a share of the head, all of it, and heads of other sizes
CaseChange other_shares_of_seq(int turn);  // more and fewer tokens
CaseChange other_dtypes(int turn);
CaseChange other_sources(int turn);
CaseChange fewer_calls_before(int turn);
CaseChange smaller_calls_before(int turn);  // with fewer tokens, or nearer to position 0

}  // namespace case_change
}  // namespace rope
