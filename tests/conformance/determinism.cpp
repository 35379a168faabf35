// DET: the same call, the same bits, whatever else runs or is in the call.
#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "tests/conformance/requirements.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/rearrange.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

void repeated_cases(CaseList& list) {
  list.for_each_variant(64, [&](Case c) {
    c.start = 777;
    list.add(c);
    c.in_place = true;
    list.add(c);
  });
  list.add_random(60, [](Case&) {});
}

// Three times: a race does not show every time.
Finding repetition(const Case& c, Examiner& examiner) {
  const Call call = examiner.build(c);
  const Trial first = examiner.run(call);
  if (!first.ok()) return first.problem;
  Finding finding;
  for (int i = 0; i < 3 && finding.passed(); ++i) {
    const Trial again = examiner.run(call);
    if (!again.ok()) return again.problem;
    finding.merge(same_bits(first, again));
  }
  return told(finding, "two runs of the same call");
}

// A batch by itself may be shorter. If the rule follows the length of the call, it has other frequencies then.
bool keeps_its_rule(const Case& c, const Claims& claims) {
  const bool by_length = c.source == AngleSource::computed && follows_length(c.spec.scaling);
  return !by_length || claims.capabilities.length_of_call == 0;
}

void company_cases(CaseList& list) {
  const auto wanted = [&](const Case& c) { return keeps_its_rule(c, list.claims()); };
  list.for_each_variant(64, [&](Case c) {
    c.batch = 4;
    c.seq = 5;
    c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
    list.give_positions(c);
    c.start = 250;
    if (wanted(c)) list.add(c);
  });
  list.add_random(60, [](Case& c) { c.batch = std::max(c.batch, 2); }, wanted);
}

// Each batch with the other batches and k, and without them, except for a k that every call has.
Finding unmoved_by_company(const Case& c, Examiner& examiner) {
  const Trial together = examiner.run(c);
  if (!together.ok()) return together.problem;
  const Call whole = examiner.build(c);
  Case without = c;
  if (!examiner.subject().claims().always(ROPE_FEATURE_KEY)) without.key_heads = 0;
  Finding finding;
  for (std::int64_t batch : {std::int64_t{0}, std::int64_t{c.batch} - 1}) {
    const Trial alone = examiner.run(one_batch(without, whole, batch, examiner.oracles()));
    if (!alone.ok()) return alone.problem;
    for_each_row(alone.q, [&](const RowIndex& row, const std::byte*) {
      same_row(finding, "q", together.call.q_result(), {batch, row.seq, row.head}, alone.call.q_result(), row);
    });
  }
  return told(finding, "a call with other batches and k, and one without them");
}

// The concurrent call: the same call at other positions and with another base, as far as that is claimed. A kernel that
// keeps a row of cosines, or its frequencies, in a static array mixes the two up.
Case companion_of(const Case& c, const Claims& claims) {
  Case other = c;
  other.seed = c.seed + 1;
  const auto take = [&](void (*change)(Case&)) {
    Case changed = other;
    change(changed);
    if (uncovered(changed, claims).empty()) other = changed;
  };
  take([](Case& o) { o.spec.base *= 50; });
  take([](Case& o) { o.start += 611; });
  return other;
}

void concurrent_cases(CaseList& list) {
  if (!list.claims().concurrent_calls) return;
  std::size_t way = 0;
  std::set<AngleSource> met;
  list.for_each_variant(64, [&](Case c) {
    // On a busy machine a case takes a tenth of a second.
    const Representative& representative = list.representative();
    if (!representative.is_output_type_of(c) || !representative.is_given_type_of(c)) return;
    if (!representative.is_width_of(c)) return;
    if (!representative.is_type_of(c) && (c.dtype != DType::bf16 || list.level() == Level::quick)) return;
    if (!representative.is_source_of(c) && list.level() == Level::quick) return;
    c.seq = 16;
    c.heads = 4;
    c.start = 40;
    list.add(c);
    // Changes for which a kernel may have separate code. Level quick takes one in turn, and at level full all ways but
    // the first from each source that stands for others.
    const std::function<void(Case&)> changes[] = {
        [&](Case& o) { o.key_heads = list.claims().has(ROPE_FEATURE_GROUPED_HEADS) ? 2 : o.heads; },
        [](Case& o) { o.direction = Direction::backward; },
        [](Case& o) { o.in_place = true; },
        [](Case& o) { turn_half(o.spec); },
        [](Case& o) { o.spec.head_dim = o.spec.rotary_dim = 256; },
        [&](Case& o) { list.give_positions(o); }};
    const bool stands_for_others = representative.is_type_of(c) && representative.is_source_of(c);
    const bool takes_all = list.level() == Level::exhaustive ||
                           (list.level() == Level::full && stands_for_others && met.insert(c.source).second);
    for (std::size_t i = 0; i < std::size(changes); ++i) {
      if (!takes_all && i != way % std::size(changes)) continue;
      Case changed = c;
      changes[i](changed);
      list.add(changed);
    }
    ++way;
  });
}

Finding undisturbed(const Case& c, Examiner& examiner) {
  const Claims& claims = examiner.subject().claims();
  return examiner.judge(c, examiner.run_concurrently(c, companion_of(c, claims)));
}

}  // namespace

std::span<const Requirement> determinism_requirements() {
  static constexpr Requirement requirements[] = {
      {"DET-01", "The same call MUST give the same bits each time.", "NAN-03",
       "races that show less often than in one of three calls", repeated_cases, repetition, 0, nullptr, with_calls(4)},
      {"DET-02", "The bits of a batch SHOULD NOT depend on the other batches of the call, nor on whether k is given.",
       "PREC, HEAD-07", "other tokens and heads of the same batch: POS-05 and SHP-07 look at these", company_cases,
       unmoved_by_company, Demand::bitwise | Demand::batch_invariant, nullptr, with_calls(3)},
      {"DET-03",
       "Two calls at the same time SHOULD give the same results as one after the other.",
       "TAB-01, NAN-03",
       "races that do not show in some hundred runs; subjects that cannot run two calls at once",
       concurrent_cases,
       undisturbed,
       mask(Demand::robust),
       nullptr,
       {.by_chance = true}},
  };
  return requirements;
}

}  // namespace rope
