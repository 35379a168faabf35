// STA: a call is right, and ends, whatever was called before.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

constexpr std::int64_t original = 1024;

// Rules whose frequencies a kernel may keep, for sequences of about the original length.
std::vector<Scaling> kept_rules(const Case& c) {
  return fourfold_rules({c.spec.head_dim, c.spec.rotary_dim, c.spec.base, 0}, static_cast<double>(original));
}

// A case makes some fifty calls. Level quick takes each type of x with the angles that stand for the others, the first
// type with each kind of angles. Level full takes each type with each kind of angles. Outputs of another type meet only
// the angles that stand for the others there.
bool is_interrupted_way(const Case& c, const CaseList& list) {
  const Representative& representative = list.representative();
  if (list.level() == Level::exhaustive) return true;
  if (list.level() == Level::full) {
    return representative.is_output_type_of(c) || (representative.is_given_type_of(c) && representative.is_width_of(c));
  }
  if (!representative.is_output_type_of(c) || !representative.is_given_type_of(c)) return false;
  return representative.is_type_of(c) || (representative.is_width_of(c) && representative.is_source_of(c));
}

// Each way that computes its frequencies with each rule; at level quick one of these ways with each rule, in turn.
void add_with_kept_rules(std::span<const Case> ways, CaseList& list) {
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const std::vector<Scaling> rules = kept_rules(ways[w]);
    for (std::size_t r = 0; r < rules.size(); ++r) {
      if (list.level() == Level::quick && r % ways.size() != w) continue;
      Case scaled = ways[w];
      scaled.spec.scaling = rules[r];
      if (!list.claims().has(ROPE_FEATURE_ATTENTION_FACTOR)) scaled.spec.attention_factor = 1;
      list.add(scaled);
      // A kernel may forget what it kept in a call within the original length. So this one is longer, and others are
      // longer still.
      scaled.sequence_length = 3 * original;
      if (follows_length(scaled.spec.scaling)) list.add(scaled);
    }
  }
}

void interrupted_cases(CaseList& list) {
  std::vector<Case> computed;
  list.for_each_variant(64, [&](Case c) {
    if (!is_interrupted_way(c, list)) return;
    c.sequence_length = 1000;
    list.add(c);
    if (list.claims().has(ROPE_FEATURE_POSITIONS)) {
      Case given = c;
      given.seq = 6;
      given.form = PositionForm::shared;
      given.position_dtype = list.claims().position_dtype();
      list.add(given);
    }
    if (c.source == AngleSource::computed) computed.push_back(c);
  });
  add_with_kept_rules(computed, list);
  list.add_random(30, [](Case& c) {
    c.heads = std::min(c.heads, 4);
    c.key_heads = std::min(c.key_heads, 4);
  });
}

// The rule with one parameter changed, each in turn.
std::vector<Scaling> altered(const Scaling& scaling) {
  std::vector<Scaling> all;
  std::visit(
      [&](const auto& rule) {
        using Rule = std::decay_t<decltype(rule)>;
        const auto alter = [&](const auto& change) {
          Rule other = rule;
          change(other);
          all.push_back(other);
        };
        if constexpr (requires { rule.factor; }) {
          alter([](Rule& r) { r.factor *= std::isfinite(2 * r.factor) ? 2 : 0.5; });
        }
        if constexpr (requires { rule.original_max_position_embeddings; }) {
          alter([](Rule& r) { r.original_max_position_embeddings /= 4; });
        }
        if constexpr (requires { rule.beta_fast; }) {
          alter([](Rule& r) { r.beta_fast *= 2; });
          alter([](Rule& r) { r.beta_slow *= 2; });
        }
        if constexpr (requires { rule.low_freq_factor; }) {
          alter([](Rule& r) { r.low_freq_factor /= 2; });
          alter([](Rule& r) { r.high_freq_factor *= 2; });
        }
        if constexpr (requires { rule.short_factor; }) {
          alter([](Rule& r) {
            for (double& divisor : r.short_factor) divisor *= 1.5;
            for (double& divisor : r.long_factor) divisor *= 1.5;
          });
        }
      },
      scaling);
  return all;
}

// Calls that each differ from `c` in one thing that a kernel may keep from call to call.
std::vector<Case> interludes(const Case& c) {
  std::vector<Case> all;
  const auto other = [&](const auto& change) {
    Case changed = c;
    change(changed);
    all.push_back(changed);
  };
  other([](Case& o) {
    o.seq *= 8;
    o.sequence_length = 8 * sequence_length(o);
  });
  other([](Case& o) {
    o.start += 2000;
    if (o.sequence_length != 0) o.sequence_length += 2000;
  });
  other([](Case& o) {
    const bool follow_on = o.pattern == PositionPattern::consecutive;
    o.pattern = follow_on ? PositionPattern::exchanged : PositionPattern::consecutive;
  });
  other([](Case& o) { o.spec.base *= 50; });
  other([](Case& o) { o.spec.base += 0.25; });  // the same integer
  other([](Case& o) { o.spec.head_dim = o.spec.rotary_dim = 2 * o.spec.head_dim; });
  other([](Case& o) {
    o.spec.pairing = o.spec.pairing == Pairing::half_split ? Pairing::interleaved : Pairing::half_split;
  });
  other([](Case& o) { o.spec.attention_factor = 0.5; });
  const auto turned = [](Direction d) { return d == Direction::forward ? Direction::backward : Direction::forward; };
  other([&](Case& o) { o.direction = turned(o.direction); });
  other([&](Case& o) {  // the gradient of tokens other than the last ones that were rotated
    o.direction = turned(o.direction);
    o.start += 5;
  });
  for (const Scaling& rule : altered(c.spec.scaling)) {
    other([&](Case& o) { o.spec.scaling = rule; });
  }
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    other([&](Case& o) { o.dtype = o.out_dtype = dtype; });
    other([&](Case& o) { o.given = dtype; });
  }
  return all;
}

// nullopt if the claims do not cover the call, or if the change does not fit the rest of the spec.
std::optional<Case> as_claimed(const Case& c, const Claims& claims) {
  try {
    std::optional<Case> kept = claimed(c, claims);
    if (kept) validate(kept->spec);
    return kept;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// By the loosest grade: a call in between may have a dtype for which no grade was demanded.
Finding judged_at_any_grade(const Case& c, const Trial& trial, Examiner& examiner) {
  return Examiner(examiner.subject(), examiner.oracles(), examiner.golden()).judge(c, trial);
}

// Whether the call is wrong in a new process, too. Then earlier calls are not to blame. False if none can be started.
bool is_wrong_alone(const Case& c, Examiner& examiner) {
  return examiner.subject().renew() && !judged_at_any_grade(c, examiner.run(c), examiner).passed();
}

// Other call, this call, other call, this call: each must be right, and this call must give the same bits each time. If
// this call is wrong even in a new process, only the same bits are required: its other results are wrong too.
Finding unmoved_by_others(const Case& c, Examiner& examiner) {
  const Call call = examiner.build(c);
  Trial first = examiner.run(call);
  if (!first.ok()) return first.problem;
  const Finding own = judged_at_any_grade(c, first, examiner);
  const bool is_wrong = !own.passed();
  if (is_wrong) {
    if (!is_wrong_alone(c, examiner)) return own;
    first = examiner.run(call);  // in the new process
    if (!first.ok()) return first.problem;
  }
  for (const Case& changed : interludes(c)) {
    const std::optional<Case> between = as_claimed(changed, examiner.subject().claims());
    if (!between || (*between == c && changed != c)) continue;
    const Finding other = judged_at_any_grade(*between, examiner.run(*between), examiner);
    if (!other.passed() && !is_wrong) {
      if (!is_wrong_alone(*between, examiner)) return other;
      continue;
    }
    const Trial again = examiner.run(call);
    if (!again.ok()) return again.problem;
    const Finding same = same_bits(first, again);
    if (!same.passed()) return told(same, "two runs of the same call, with other calls between them");
  }
  return is_wrong ? same_bits(first, first) : own;
}

// Types that a kernel may keep its table in, the coarsest first: what a coarse one leaves behind shows most.
constexpr DType coarsest_first[] = {DType::bf16, DType::f16, DType::f32, DType::f64};

// The types in which the case's call is claimed, other than the case's own; if there is none, its own.
std::vector<DType> other_types(const Case& c, const CaseList& list) {
  std::vector<DType> others;
  for (const DType dtype : coarsest_first) {
    Case other = c;
    other.dtype = other.out_dtype = dtype;
    if (dtype != c.dtype && list.covers(other)) others.push_back(dtype);
  }
  if (others.empty()) others.push_back(c.dtype);
  return others;
}

// What a call finds after calls in another type: a table that the other type made, or had to make longer, by its number
// of tokens or by its offset.
std::vector<Case> after_calls_in(DType other, Case c, const CaseList& list) {
  constexpr int few_tokens = 3, many_tokens = 300;
  // Beyond the 32768 positions for which models make their first table.
  const std::int64_t reach = c.source == AngleSource::tables ? 1000 : 40'000;
  const std::int64_t far =
      std::max<std::int64_t>(std::min(reach, list.claims().capabilities.max_position - few_tokens), 0);
  c.batch = c.heads = 1;
  if (!list.claims().has(ROPE_FEATURE_OFFSET)) list.give_positions(c);
  c.seq = many_tokens;
  std::vector<Case> all;
  const auto add = [&](std::vector<EarlierCall> before) {
    all.push_back(c);
    all.back().before = std::move(before);
  };
  add({{c.dtype, few_tokens, 0}, {other, many_tokens, 0}});
  c.seq = few_tokens;
  c.start = far;
  add({{c.dtype, few_tokens, 0}, {other, few_tokens, far}});
  add({{other, few_tokens, far}, {c.dtype, many_tokens, 0}});
  c.start = 0;
  add({{other, many_tokens, 0}});
  return all;
}

void mixed_cases(CaseList& list) {
  const bool quick = list.level() == Level::quick;
  const Representative& representative = list.representative();
  // Each case starts a process, which takes an interpreter seconds.
  std::size_t left = list.claims().compiled ? 1000 : quick ? 2 : 8;
  std::map<AngleSource, std::size_t> turn;
  std::optional<Pairing> pairing;
  list.for_each_variant(64, [&](const Case& c) {
    if (!representative.is_output_type_of(c) || !representative.is_given_type_of(c)) return;
    if (!representative.is_width_of(c)) return;
    if (quick && !representative.is_source_of(c)) return;
    if (!quick && pairing.value_or(c.spec.pairing) != c.spec.pairing) return;
    pairing = c.spec.pairing;
    const bool one_in_turn = quick || c.source != AngleSource::computed;
    for (const DType other : other_types(c, list)) {
      std::vector<Case> cases = after_calls_in(other, c, list);
      if (one_in_turn) cases = {cases[turn[c.source]++ % cases.size()]};
      for (const Case& one : cases) {
        if (left == 0 || !list.covers(one)) continue;
        list.add(one);
        --left;
      }
      if (quick) return;
    }
  });
}

void returning_cases(CaseList& list) {
  bool is_first = true;
  const Representative& representative = list.representative();
  list.for_each_variant(64, [&](const Case& c) {
    const bool stands_for_all = representative.is_type_of(c) && representative.is_output_type_of(c) &&
                                representative.is_given_type_of(c) && representative.is_width_of(c) &&
                                representative.is_source_of(c);
    if (!is_first || !stands_for_all) return;
    list.add(c);
    is_first = false;
  });
}

// One hang may be the machine's: it stood still. A second one is the kernel's.
Finding returned_each_time(const CallCounts& counts) {
  Finding finding;
  if (counts.recovered_hangs < 2) return finding;
  finding.kind = FailureKind::timeout;
  finding.message =
      fmt::format("{} of {} calls did not return in time, and did when they were made again in a new process",
                  counts.recovered_hangs, counts.calls);
  return finding;
}

// Calls of a few microseconds, or of an interpreter.
constexpr int most_repetitions = 100, most_slow_repetitions = 20;

Finding returns_each_time(const Case& c, Examiner& examiner) {
  const Call call = examiner.build(c);
  const CallCounts before{examiner.calls(), examiner.recovered_hangs()};
  const int repetitions = examiner.subject().claims().compiled ? most_repetitions : most_slow_repetitions;
  for (int i = 0; i < repetitions; ++i) {
    const Trial trial = examiner.run(call);
    if (!trial.ok()) return trial.problem;
    const Finding finding =
        returned_each_time({examiner.calls() - before.calls, examiner.recovered_hangs() - before.recovered_hangs});
    if (!finding.passed()) return finding;
  }
  return {};
}

}  // namespace

std::span<const Requirement> state_requirements() {
  static constexpr Requirement requirements[] = {
      {"STA-01",
       "A call MUST be right, and give the same bits, after any earlier calls.",
       "TAB-01",
       "state that needs many calls, or concurrent ones",
       interrupted_cases,
       unmoved_by_others,
       0,
       nullptr,
       {.of_state = true, .calls = 50}},
      {"STA-02",
       "A call MUST be right in a new process after calls of another dtype, length and offset, in any order.",
       "TAB-01, PREC",
       "tables that more than three calls must spoil",
       mixed_cases,
       accuracy,
       0,
       nullptr,
       {.of_state = true, .calls = 3}},
      {"STA-03",
       "A call MUST return each time that it is made.",
       "NAN-03",
       "calls that hang less often than twice in a run; calls that take long, but return before the deadline",
       returning_cases,
       returns_each_time,
       0,
       nullptr,
       {.shown_by = ShownBy::time, .calls = 100},
       returned_each_time},
  };
  return requirements;
}

}  // namespace rope
