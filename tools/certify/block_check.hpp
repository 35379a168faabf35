// Runs the calls of a block and judges every element of their results.
#pragma once

#include <optional>

#include "tools/certify/block_result.hpp"
#include "tools/judge/run/examiner.hpp"

namespace rope::certify {

class BlockCheck {
 public:
  BlockCheck(Subject& subject, const Plan& plan) : plan_(plan), examiner_(subject, oracles_, nullptr, plan.grade) {}

  BlockResult check(std::int64_t block);
  Finding check(const Kind& kind, const Case& c) { return judged(kind, c, nullptr); }

  double kernel_seconds() const { return examiner_.kernel_seconds(); }

 private:
  Call call_of(const Case& c);
  Finding judged(const Kind& kind, const Case& c, BlockResult* result);
  Finding judged(const Kind& kind, const Trial& trial, const Case& c, UseHistogram* histogram);
  void note(const Sweep& sweep, const Case& c, const Finding& finding, BlockResult& result);
  Json failure_of(const Sweep& sweep, const Case& c, const Finding& finding);

  const Plan& plan_;
  Oracles oracles_;
  Examiner examiner_;
  std::optional<Case> kept_case_;  // the last call of a sweep over positions; the next one differs in its start
  Call kept_call_;
};

}  // namespace rope::certify
