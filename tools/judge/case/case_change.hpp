// CaseChange: other cases that differ from one in a single field. Shrinking tries those that are simpler; the diagnosis
// looks at what a kernel makes of its neighbours.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "tools/judge/case/case.hpp"

namespace rope {

struct CaseChange {
  int turn;  // those of the lowest are tried first, in all fields; of equal ones that which the table has first
  std::function<void(const Case&, std::vector<Case>&)> propose;  // what is no other case is dropped later
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

// Takes n/2, n/4, .. 1 from n, so that a limit within n is found in a few steps whatever it is.
template <class Number>
CaseChange ever_less(int turn, Number Case::*field) {
  return {turn, [=](const Case& c, std::vector<Case>& out) {
            for (Number less = c.*field / 2; less > 0; less /= 2) out.emplace_back(c).*field -= less;
          }};
}

}  // namespace case_change
}  // namespace rope
