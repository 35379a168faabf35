// A subject that records its calls, so that the checks which judge a kernel also decide what is exported.
#pragma once

#include "tools/judge/call/oracles.hpp"
#include "tools/judge/case/case.hpp"
#include "tools/judge/run/subject.hpp"
#include "tools/vectors/call_record.hpp"

namespace rope::vectors {

class Recorder : public Subject {
 public:
  enum class Answers {
    exact,  // the oracle's answer
    none    // ok, and nothing is written
  };

  // `expected`: recorded calls get the exact values and their bounds.
  Recorder(Claims claims, Oracles& oracles, bool expected)
      : claims_(std::move(claims)), oracles_(oracles), expected_(expected) {}

  const std::string& name() const override { return name_; }
  const Claims& claims() const override { return claims_; }
  Reply apply(Call& call) override;

  // Forgets the recorded calls: the next calls belong to this case.
  void begin(const Case& c, Answers answers);
  std::vector<DescribedCall> take() { return std::move(calls_); }

 private:
  std::string name_ = "recorder";
  Claims claims_;
  Oracles& oracles_;
  bool expected_;
  Case case_;
  Answers answers_ = Answers::exact;
  std::vector<DescribedCall> calls_;
};

}  // namespace rope::vectors
