#include "tools/judge/run/shrink.hpp"

#include <rapidcheck/Shrinkable.h>
#include <rapidcheck/seq/Operations.h>
#include <rapidcheck/seq/Transform.h>
#include <rapidcheck/shrinkable/Create.h>
#include <rapidcheck/shrinkable/Operations.h>

#include <functional>
#include <optional>
#include <utility>

#include "reference/input_error.hpp"
#include "tools/judge/call/busy_machine.hpp"
#include "tools/judge/call/stop.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

constexpr int most_shrink_steps = 400;

// A hang costs two whole deadlines. So the first hang decides, and only the first of a run is shrunk, in few steps.
constexpr int most_hanging_steps = 3;

// A case that fails rarely cannot be replayed. If it fails this many more times in a row, it can.
constexpr int more_failures = 4;

// Each step starts a new process: after a death, and for a case with calls before its own. The latter matters only
// where that takes seconds.
constexpr int most_dying_steps = 20;

// A crash or a hang that shows only now and then may hold in so many new processes.
constexpr int most_repeats = 5;

// If the failure itself kills nothing but simpler cases do, this many such cases end the shrinking.
constexpr int most_deaths_in_shrinking = most_dying_steps;
constexpr int most_slow_deaths_in_shrinking = 4;

int shrink_steps(const Outcome& outcome, const Case& failing, const Claims& claims) {
  if (outcome.finding.kind == FailureKind::timeout) return most_hanging_steps;
  const bool starts_for_each = outcome.died || (claims.starts_slowly() && !failing.before.empty());
  return starts_for_each ? most_dying_steps : most_shrink_steps;
}

bool is_valid(const Case& c, const Claims& claims) {
  try {
    validate(c.spec);
    return uncovered(c, claims).empty();
  } catch (const InputError&) {
    return false;  // shrinking broke the spec, for example a list of factors that no longer fits
  }
}

// Looks for one call before the minimal case that makes it fail in a new process: then it can be replayed.
void name_earlier_call(const Requirement& requirement, Failure& failure, Examiner& examiner) {
  constexpr int many_tokens = 300;
  constexpr std::int64_t further = 40'000;
  const Claims& claims = examiner.subject().claims();
  int tries = claims.starts_slowly() ? 4 : 16;
  const Case minimal = failure.minimal;
  // In turn, so that few tries see every dtype.
  for (const auto& [seq, start] : {std::pair(minimal.seq, minimal.start), std::pair(many_tokens, std::int64_t{0}),
                                   std::pair(minimal.seq, minimal.start + further)}) {
    for (const DType dtype : {DType::bf16, DType::f32, DType::f16, DType::f64}) {
      Case with = minimal;
      with.before = {{dtype, seq, start}};
      if (!is_valid(with, claims)) continue;
      if (--tries < 0) return;
      Finding found = checked(requirement, with, examiner);
      if (found.kind != failure.finding.kind) continue;
      failure.minimal = std::move(with);
      failure.finding = std::move(found);
      return;
    }
  }
}

void make_smaller(Failure& failure, const Requirement& requirement, const Case& failing, const Outcome& outcome,
                  const Selection& selection, const std::function<bool()>& is_over, Examiner& examiner) {
  const Finding& finding = outcome.finding;
  const bool by_chance = requirement.handling.by_chance;
  const Claims& claims = examiner.subject().claims();
  int steps = shrink_steps(outcome, failing, claims);
  const int deaths_allowed = claims.starts_slowly() ? most_slow_deaths_in_shrinking : most_deaths_in_shrinking;
  const auto smaller = [&](const Case& c) {
    std::vector<Case> candidates = simpler(c);
    std::erase_if(candidates, [&](const Case& s) {
      return !is_valid(s, claims) || to_json(s.spec) != to_json(selection.spec_for(s.spec));
    });
    return rc::seq::fromContainer(std::move(candidates));
  };
  const auto shrinkable = rc::shrinkable::shrinkRecur(failing, smaller);
  rc::shrinkable::findLocalMin(shrinkable, [&](const Case& c) {
    if (--steps < 0 || is_over()) return false;
    // What the calls before left in this process would make a case without them fail, too.
    if (!failure.minimal.before.empty() && c.before.empty()) examiner.subject().renew();
    const std::int64_t deaths = examiner.subject().deaths();
    Finding found = checked(requirement, c, examiner);
    if (!outcome.died && examiner.subject().deaths() != deaths) steps -= most_shrink_steps / deaths_allowed;
    // A different kind of failure is a different failure.
    const auto same_failure = [&] { return !found.passed() && found.kind == finding.kind; };
    for (int i = 0; i < more_failures && by_chance && !outcome.died && same_failure(); ++i) {
      found = checked(requirement, c, examiner);
    }
    if (!same_failure()) return false;
    failure.minimal = c;
    failure.finding = found;
    return true;
  });
}

// Whether the case fails in one of so many new processes. nullopt: there is no new process, or no time for one.
std::optional<bool> fails_again(const Requirement& requirement, const Case& c, int processes,
                                const std::function<bool()>& is_over, Examiner& examiner) {
  for (int i = 0; i < processes; ++i) {
    if (is_over() || !examiner.subject().renew()) return std::nullopt;
    if (!checked(requirement, c, examiner).passed()) return true;
  }
  return false;
}

void look_for_earlier_calls(Failure& failure, const Requirement& requirement, int processes,
                            const std::function<bool()>& is_over, Examiner& examiner) {
  Case alone = failure.minimal;
  alone.before.clear();
  failure.needs_earlier_calls = fails_again(requirement, alone, processes, is_over, examiner) == false;
  const bool is_named = !failure.minimal.before.empty();
  if (failure.needs_earlier_calls && !is_named) name_earlier_call(requirement, failure, examiner);
}

// A replay is a new process that makes the calls of the case.
void look_whether_replay_fails(Failure& failure, const Requirement& requirement,
                               const std::function<bool()>& is_over, Examiner& examiner) {
  if (fails_again(requirement, failure.minimal, most_repeats, is_over, examiner) != false) return;
  failure.needs_earlier_calls = false;
  failure.held_again = most_repeats;
}

}  // namespace

Outcome outcome_of(const Requirement& requirement, const Case& c, Examiner& examiner) {
  const std::int64_t before = examiner.subject().deaths();
  Outcome outcome{checked(requirement, c, examiner)};
  const FailureKind kind = outcome.finding.kind;
  outcome.died = kind == FailureKind::crash || kind == FailureKind::timeout || examiner.subject().deaths() != before;
  // Run by itself, each of its cases takes a process too.
  outcome.died = outcome.died || (requirement.prepare != nullptr && !outcome.finding.passed());
  return outcome;
}

Failure shrink(const Requirement& requirement, const Case& failing, const Outcome& outcome, const Selection& selection,
               const Shrinking& how, Examiner& examiner) {
  const auto is_over = [&] { return how.end && std::chrono::steady_clock::now() >= *how.end; };
  Failure failure{failing, outcome.finding, to_text(failing)};
  // A kernel that takes wrong calls takes them in any process.
  const bool takes_wrong_call = examiner.subject().claims().starts_slowly() && failing.fault != Fault::none;
  const bool hangs = outcome.finding.kind == FailureKind::timeout;
  const bool crashes = outcome.finding.kind == FailureKind::crash;
  // Repeating a hang more than once would cost its deadlines again.
  const bool renews = how.makes_smaller && how.renews && !takes_wrong_call && !hangs && !requirement.handling.by_chance;
  try {
    if (how.makes_smaller) make_smaller(failure, requirement, failing, outcome, selection, is_over, examiner);
    if (renews && !is_over()) {
      look_for_earlier_calls(failure, requirement, crashes ? most_repeats : 1, is_over, examiner);
    }
    const bool failed_alone = renews && failure.minimal.before.empty() && !failure.needs_earlier_calls;
    if (hangs || (crashes && !failed_alone)) look_whether_replay_fails(failure, requirement, is_over, examiner);
  } catch (const Interrupted&) {
    // The failure was seen. The smallest case so far shows it.
  } catch (const BusyMachine&) {
    // Likewise.
  }
  return failure;
}

}  // namespace rope
