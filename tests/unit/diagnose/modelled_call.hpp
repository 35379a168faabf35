// A call, its model, and what is right for it.
#pragma once

#include "tools/diagnose/model.hpp"
#include "tools/judge/case/build_call.hpp"

namespace rope::test {

struct ModelledCall {
  Case c;
  Call before;
  Expectation expectation;
  diagnosis::Model model;
  diagnosis::Prediction right;

  ModelledCall(const Case& one, Call call, Oracles& oracles)
      : c(one),
        before(std::move(call)),
        expectation(before, c.spec, oracles),
        model(before, expectation),
        right(model.predict({})) {}
  ModelledCall(const Case& one, Oracles& oracles) : ModelledCall(one, build_call(one, oracles), oracles) {}
};

}  // namespace rope::test
