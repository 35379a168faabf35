// CaseChange: other cases that differ from one in a single field. Shrinking tries the simpler ones. The diagnosis runs
// a case's neighbours.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "tools/judge/case/case.hpp"

namespace rope {

struct CaseChange {
  std::function<void(const Case&, std::vector<Case>&)> propose;  // equal cases are dropped later
};

namespace case_change {

template <class Made>
CaseChange by(Made make) {
  return {[=](const Case& c, std::vector<Case>& out) { make(out.emplace_back(c)); }};
}

// `access`: a pointer to a member, or a function that gives the field of a case.
template <class Access, class Value>
CaseChange to(Access access, Value value) {
  return by([=](Case& c) { std::invoke(access, c) = value; });
}

template <class Access>
CaseChange to_default(Access access) {
  return by([=, plain = Case{}](Case& c) { std::invoke(access, c) = std::invoke(access, plain); });
}

// To one value, or from it to another.
template <class Access, class Value>
CaseChange between(Access access, Value one, Value other) {
  return by([=](Case& c) {
    auto& field = std::invoke(access, c);
    field = field == one ? other : one;
  });
}

template <class Number>
CaseChange at_most_one(Number Case::*field) {
  return by([=](Case& c) { c.*field = std::min<Number>(c.*field, 1); });
}

// Takes n/2, n/4, .. 1 from n: finds any limit within n in a few steps.
template <class Number>
CaseChange ever_less(Number Case::*field) {
  return {[=](const Case& c, std::vector<Case>& out) {
    for (Number less = c.*field / 2; less > 0; less /= 2) out.emplace_back(c).*field -= less;
  }};
}

CaseChange other_dims();           // a share of the head, all of it, and heads of other sizes
CaseChange other_shares_of_seq();  // more and fewer tokens
CaseChange other_dtypes();
CaseChange other_sources();
CaseChange fewer_calls_before();
CaseChange smaller_calls_before();  // with fewer tokens, or nearer to position 0

}  // namespace case_change
}  // namespace rope
