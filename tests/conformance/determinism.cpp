// DET and STA: the same call, the same bits, whatever was called before.
#include "reference/input_error.hpp"
#include "tests/conformance/coverage.hpp"
#include "tests/conformance/relations.hpp"
#include "tests/conformance/requirement.hpp"

namespace rope {
namespace {

void repeated_cases(CaseList& list) {
  list.for_each_way(64, [&](Case c) {
    c.start = list.claims().has(ROPE_FEATURE_OFFSET) ? 777 : 0;
    list.add(c);
    c.in_place = true;
    list.add(c);
  });
  list.add_random(60, [](Case&) {});
}

// Three times: a race is not lost each time.
Finding repetition(const Case& c, Examiner& examiner) {
  const Trial first = examiner.run(c);
  if (!first.ok()) return first.problem;
  Finding finding;
  for (int i = 0; i < 3 && finding.passed(); ++i) {
    const Trial again = examiner.run(c);
    if (!again.ok()) return again.problem;
    finding.merge(same_bits(first, again));
  }
  return finding;
}

void interrupted_cases(CaseList& list) {
  list.for_each_way(64, [&](Case c) {
    c.sequence_length = 1000;
    list.add(c);
    if (c.source != AngleSource::computed) return;
    // Rules that follow the length of the sequence: what was computed for a long one must not serve a short one.
    scaling::Dynamic dynamic;
    dynamic.factor = 4;
    dynamic.original_max_position_embeddings = 1024;
    c.spec.scaling = dynamic;
    list.add(c);
    scaling::LongRope longrope;
    longrope.factor = 4;
    longrope.original_max_position_embeddings = 1024;
    longrope.short_factor.assign(static_cast<std::size_t>(c.spec.rotary_dim / 2), 1.25);
    longrope.long_factor.assign(static_cast<std::size_t>(c.spec.rotary_dim / 2), 3.5);
    c.spec.scaling = longrope;
    if (!list.claims().has(ROPE_FEATURE_ATTENTION_FACTOR)) c.spec.attention_factor = 1;
    list.add(c);
  });
  list.add_random(30, [](Case&) {});
}

// Calls that differ from `c` in one thing each that a kernel may keep from call to call.
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
  other([](Case& o) { o.start += 2000; });
  other([](Case& o) { o.spec.base *= 50; });
  other([](Case& o) { o.spec.head_dim = o.spec.rotary_dim = 2 * o.spec.head_dim; });
  other([](Case& o) {
    o.spec.pairing = o.spec.pairing == Pairing::half_split ? Pairing::interleaved : Pairing::half_split;
  });
  other([](Case& o) { o.spec.attention_factor = 0.5; });
  other([](Case& o) { o.direction = o.direction == Direction::forward ? Direction::backward : Direction::forward; });
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    other([&](Case& o) { o.dtype = o.out_dtype = dtype; });
    other([&](Case& o) { o.given = dtype; });
  }
  return all;
}

bool is_covered(const Case& c, const Claims& claims) {
  try {
    validate(c.spec);
    return uncovered(c, claims).empty();
  } catch (const InputError&) {
    return false;  // the change does not go with the rest of the spec
  }
}

// Other call, this call, other call, ..: each has to be right straight after the one before it, and this one the same
// each time.
Finding unmoved_by_others(const Case& c, Examiner& examiner) {
  const Trial first = examiner.run(c);
  if (!first.ok()) return first.problem;
  for (const Case& between : interludes(c)) {
    if (!is_covered(between, examiner.subject().claims())) continue;
    const Finding other = examiner.accuracy(between);
    if (!other.passed()) return other;
    const Trial again = examiner.run(c);
    if (!again.ok()) return again.problem;
    const Finding same = same_bits(first, again);
    if (!same.passed()) return same;
  }
  return examiner.judge(c, first);
}

constexpr Requirement requirements[] = {
    {"DET-01", "The same call MUST give the same bits each time.", "NAN-03",
     "races that are lost less often than once in three calls", repeated_cases, repetition},
    {"STA-01", "A call MUST be right, and give the same bits, whatever calls came before it.", "TAB-01",
     "what only many or concurrent calls change", interrupted_cases, unmoved_by_others},
};

}  // namespace

std::span<const Requirement> determinism_requirements() { return requirements; }

}  // namespace rope
