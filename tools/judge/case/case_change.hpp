// Simplification: what shrinking may try on a field.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "tools/judge/case/case.hpp"

namespace rope {

struct Simplification {
  int turn;  // those of the lowest are tried first, in all fields; of equal ones that which the table has first
  std::function<void(const Case&, std::vector<Case>&)> propose;  // what is no other case is dropped later
};

namespace simplification {

template <class Change>
Simplification by(int turn, Change change) {
  return {turn, [=](const Case& c, std::vector<Case>& out) { change(out.emplace_back(c)); }};
}

// `access`: a pointer to a member, or a function that gives the field of a case.
template <class Access>
Simplification to_default(int turn, Access access) {
  return by(turn, [=, plain = Case{}](Case& c) { std::invoke(access, c) = std::invoke(access, plain); });
}

template <class Number>
Simplification at_most_one(int turn, Number Case::*field) {
  return by(turn, [=](Case& c) { c.*field = std::min<Number>(c.*field, 1); });
}

// Takes n/2, n/4, .. 1 from n, so that a limit within n is found in a few steps whatever it is.
template <class Number>
Simplification ever_less(int turn, Number Case::*field) {
  return {turn, [=](const Case& c, std::vector<Case>& out) {
            for (Number less = c.*field / 2; less > 0; less /= 2) out.emplace_back(c).*field -= less;
          }};
}

}  // namespace simplification
}  // namespace rope
