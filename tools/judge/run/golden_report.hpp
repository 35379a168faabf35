// Every golden case on one kernel: the result of `ropecheck golden verify`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tools/judge/call/oracles.hpp"
#include "tools/judge/call/stop.hpp"
#include "tools/judge/run/golden_agreement.hpp"
#include "tools/judge/run/requirement.hpp"

namespace rope {

enum class GoldenVerdict { identical, within_bound, fail, not_claimed };

struct GoldenOutcome {
  std::string id;
  AngleSource source = AngleSource::tables;
  GoldenVerdict verdict = GoldenVerdict::not_claimed;
  std::string not_claimed;  // what the case needs and the kernel does not claim
  Case c;
  Finding finding;
};

struct GoldenReport {
  std::string subject;
  std::vector<GoldenOutcome> outcomes;
  std::size_t inexpressible = 0;  // cases that no call of the contract can express, or that deviate from the definition
  bool interrupted = false;  // the run ended before its end
  std::string ended_by;      // what did it, in a sentence; empty: the user

  std::size_t count(GoldenVerdict verdict) const;
  std::size_t count(AngleSource source, GoldenVerdict verdict) const;
  std::size_t executed() const { return outcomes.size() - count(GoldenVerdict::not_claimed); }
};

// Runs each case whose id starts with `prefix`, with angles from tables, from frequencies and from base and scaling, if
// it has them. `requirements`: the one for each of these three, which a replay of the case checks.
GoldenReport verify_golden(Subject& subject, Oracles& oracles, std::span<const Requirement> requirements,
                           const Manifest& golden, const std::string& prefix,
                           const std::function<void(const GoldenOutcome&)>& progress, const Stop* stop);

}  // namespace rope
