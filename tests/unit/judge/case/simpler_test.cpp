#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "reference/input_error.hpp"
#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/case_list.hpp"

namespace rope {
namespace {

bool is_valid(const Case& c) {
  try {
    validate(c.spec);
    return true;
  } catch (const InputError&) {
    return false;  // the suite drops these: the rule does not fit the smaller dimensions
  }
}

// How hard a case is to read, as a number of steps. Every simplification has to lower it, so that shrinking ends.
std::int64_t complexity(const Case& c) {
  const RopeSpec& s = c.spec;
  std::int64_t sum = c.start + c.batch + c.seq + c.heads + c.key_heads + 4 * s.head_dim - s.rotary_dim;
  sum += s.axes.sections.empty() ? 0 : 1;
  sum += s.scaling.index() != 0 ? 1 : 0;
  sum += s.attention_factor ? 1 : 0;
  sum += s.base != 10000 ? 1 : 0;
  sum += c.spare_rows != 0 ? 1 : 0;
  // Fields with a list of words are simplest at their default, except for two fields.
  for (const Field& field : fields()) {
    if (!field.text.words.empty()) sum += field.text.print(c) != field.text.print(Case{}) ? 1 : 0;
  }
  sum += c.input == InputKind::repeated ? 3 : c.input == InputKind::spread ? 2 : 0;
  sum += c.form == PositionForm::per_batch || c.form == PositionForm::cu_seqlens_and_offsets ? 1 : 0;
  sum += c.sequences;
  for (const EarlierCall& call : c.before) sum += 1 + call.seq + call.start;
  return sum;
}

TEST_CASE("every simplification is simpler, and keeps what was asked", "[simpler]") {
  rc::prop("for random cases", [] {
    const Case c = test::any_case();
    for (const Case& s : simpler(c)) {
      RC_LOG() << to_text(c) << " -> " << to_text(s);
      RC_ASSERT(complexity(s) < complexity(c));
      RC_ASSERT(s.requirement == c.requirement);
      RC_ASSERT((s.source == c.source && s.direction == c.direction && s.seed == c.seed));
      RC_ASSERT((s.spec.pairing == c.spec.pairing && s.sequence_length == c.sequence_length));
      RC_ASSERT((s.batch >= 1 && s.seq >= 1 && s.heads >= 1 && s.start >= 0));
    }
  });
}

TEST_CASE("simplifications of a plain rule are all valid", "[simpler]") {
  rc::prop("and print as text that is read again", [] {
    Case c = test::any_case();
    c.spec.scaling = scaling::None{};
    for (const Case& s : simpler(c)) {
      RC_LOG() << to_text(c) << " -> " << to_text(s);
      RC_ASSERT(is_valid(s));
      RC_ASSERT(case_from_text(to_text(s)) == s);
    }
  });
}

TEST_CASE("LongRoPE's lists are cut to the smaller head", "[simpler]") {
  Case c;
  c.spec.scaling = scaling::LongRope{32, 4096, std::vector<double>(64, 1), std::vector<double>(64, 2)};
  int smaller_heads = 0;
  for (const Case& s : simpler(c)) {
    if (s.spec.head_dim < c.spec.head_dim) ++smaller_heads;
    CHECK(is_valid(s));
  }
  CHECK(smaller_heads == 6);
}

TEST_CASE("any path of simplifications ends, with nothing left to leave out", "[simpler]") {
  rc::prop("for random cases and random choices", [] {
    Case c = test::any_case();
    // A path has at most as many steps as the case is complex. Halving start is not always chosen, so start is small.
    c.start = *rc::gen::inRange(0, 50);
    for (EarlierCall& call : c.before) call.start %= 50;
    std::int64_t steps = 0;
    const std::int64_t most = complexity(c);
    for (;;) {
      std::vector<Case> next = simpler(c);
      std::erase_if(next, [](const Case& s) { return !is_valid(s); });
      if (next.empty()) break;
      c = next[*rc::gen::inRange<std::size_t>(0, next.size())];
      RC_ASSERT(++steps <= most);
    }
    RC_LOG() << to_text(c);
    RC_ASSERT((c.batch == 1 && c.seq == 1 && c.heads == 1 && c.key_heads == 0 && c.start == 0));
    RC_ASSERT(c.before.empty());
    RC_ASSERT((c.spec.head_dim == 2 && c.spec.rotary_dim == 2 && c.spec.scaling.index() == 0));
    RC_ASSERT((c.dtype == DType::f32 && c.layout == Layout::contiguous && c.form == PositionForm::offset));
  });
}

TEST_CASE("a limit among 65537 tokens, batches or heads is found in a few trials", "[simpler]") {
  for (int Case::*extent : {&Case::seq, &Case::batch, &Case::heads, &Case::key_heads}) {
    for (const int limit : {64, 1024, 40000, 65536}) {
      Case c;
      c.*extent = 65537;
      int trials = 0;
      const auto fails = [&](const Case& s) { return ++trials, s.*extent > limit; };
      for (bool smaller = true; smaller;) {
        const std::vector<Case> next = simpler(c);
        const auto found = std::find_if(next.begin(), next.end(), fails);
        smaller = found != next.end();
        if (smaller) c = Case(*found);
      }
      CHECK(c.*extent == limit + 1);
      CHECK(trials < 200);
    }
  }
}

TEST_CASE("a golden case stays as it is", "[simpler]") {
  Case c;
  c.golden = "labml/d64";
  c.seq = 9;
  CHECK(simpler(c).empty());
}

}  // namespace
}  // namespace rope
