#include "tools/certify/estimate.hpp"

#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "tools/certify/block_check.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope::certify {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double values_of(const Sweep& sweep, std::int64_t claimed) {
  return static_cast<double>(claimed) * static_cast<double>(sweep.base.spec.rotary_dim);
}

// Sweeps whose elements cost about the same for each feature.
struct Alike {
  double seconds = 0, values = 0;  // of the probed ones
};

std::string group_of(const Sweep& sweep) { return sweep.kind + " " + sweep.over; }

std::optional<Part> first_claimed(const Sweep& sweep, std::int64_t from_block, const Claims& claims) {
  for (std::int64_t block = from_block; block < sweep.blocks(); ++block) {
    for (Part& part : kind_called(sweep.kind).parts(sweep, sweep.range(block))) {
      if (const std::optional<Case> c = claimed(part.c, claims)) {
        part.c = *c;
        return part;
      }
    }
  }
  return std::nullopt;
}

// `size`: the sweep's elements that are claimed.
double probed(BlockCheck& check, const Sweep& sweep, std::int64_t size, const Claims& claims) {
  const Kind& kind = kind_called(sweep.kind);
  double of_parts = 0, elements = 0;
  for (const std::int64_t block : {std::int64_t{0}, sweep.blocks() / 2, sweep.blocks() - 1}) {
    const std::optional<Part> part = first_claimed(sweep, block, claims);
    if (!part) break;
    if (elements == 0) check.check(kind, part->c);  // the first call also makes what later calls share
    const Clock::time_point call = Clock::now();
    check.check(kind, part->c);
    of_parts += seconds_since(call);
    elements += static_cast<double>(part->elements);
  }
  return of_parts / elements * static_cast<double>(size);
}

}  // namespace

// One sweep of each group, and others as long as a second lasts.
std::vector<double> estimated_seconds(const Plan& plan, const std::vector<std::int64_t>& claimed, Subject& subject) {
  constexpr double longest = 1;
  const Clock::time_point begin = Clock::now();
  BlockCheck check(subject, plan);
  std::vector<double> seconds(plan.sweeps.size(), std::nan(""));
  std::map<std::string, Alike> groups;
  for (const bool only_new : {true, false}) {
    for (std::size_t i = 0; i < plan.sweeps.size() && (only_new || seconds_since(begin) < longest); ++i) {
      const Sweep& sweep = plan.sweeps[i];
      if (!std::isnan(seconds[i]) || (only_new && groups.contains(group_of(sweep)))) continue;
      seconds[i] = probed(check, sweep, claimed[i], subject.claims());
      Alike& alike = groups[group_of(sweep)];
      alike.seconds += seconds[i];
      alike.values += values_of(sweep, claimed[i]);
    }
  }
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const Alike& alike = groups.at(group_of(plan.sweeps[i]));
    if (std::isnan(seconds[i])) seconds[i] = alike.seconds / alike.values * values_of(plan.sweeps[i], claimed[i]);
  }
  return seconds;
}

}  // namespace rope::certify
