// Diagnoses of what a kernel keeps from earlier calls.
#include <map>
#include <memory>

#include "tests/unit/diagnose/subjects.hpp"
#include "tools/diagnose/other_evidence.hpp"

using namespace rope;
using namespace rope::test;

TEST_CASE("A length that is kept from an earlier call is named") {
  const auto kept = [](std::function<std::int64_t(std::int64_t kept, std::int64_t own)> next, bool compiled = true) {
    auto length = std::make_shared<std::int64_t>(0);
    Claims claims = plain_claims();
    claims.compiled = compiled;
    Fake subject = with_modified_call(
        [=](Call& call) {
          if (!std::holds_alternative<scaling::Dynamic>(call.scaling)) return;
          *length = next(*length, call.sequence_length);
          call.sequence_length = *length;
        },
        claims);
    subject.forget = [=] { *length = 0; };
    return first_of(diagnosed(subject, {"ROT-01", "ANG-04", "STA-01"})).sentence;
  };
  CHECK(kept([](std::int64_t longest, std::int64_t own) { return std::max(longest, own); }) ==
        "dynamic: the longest sequence_length of all calls so far is used, not this call's");
  const auto first = [](std::int64_t of_first, std::int64_t own) { return of_first == 0 ? own : of_first; };
  // Where processes start slowly, the calls that spoiled the case are not looked for.
  for (const bool compiled : {true, false}) {
    CHECK(kept(first, compiled) == "dynamic: the sequence_length of the first call is used, not this call's");
  }
}

TEST_CASE("What a kept table is kept for is said where one change of the earlier call tells") {
  // Keeps the position_offset of the first call of each length.
  std::map<std::int64_t, std::int64_t> kept;
  Fake by_length = with_modified_call([&](Call& call) {
    if (!counts_from_offset(call) || call.source == AngleSource::tables) return;
    call.position_offset = kept.try_emplace(call.q.shape[1], call.position_offset).first->second;
  });
  by_length.forget = [&] { kept.clear(); };
  CHECK(first_of(diagnosed(by_length, {"ROT-01", "STA-01", "STA-02"})).sentence ==
        "the positions of an earlier call are used, not this call's");
}

TEST_CASE("A call that changes what the next one uses is called state, not a race") {
  int factors = 0;
  Fake subject = with_results([&](const Call& before, Call& after) {
    if (before.attention_factor == 1) return;
    const double by = 1 + ++factors % 5;
    for (Tensor* out : {&q_of(after), after.k ? &k_of(after) : nullptr}) {
      if (out == nullptr) continue;
      for_each_row(*out, [&](const RowIndex&, std::byte* data) {
        for (std::int64_t f = 0; f < out->shape[3]; ++f) {
          std::byte* element = data + f * feature_step(*out);
          store(out->dtype, element, load(out->dtype, element) * by);
        }
      });
    }
  });
  subject.forget = [&] { factors = 0; };
  const auto found = diagnosed(subject, {"ROT-01", "ANG-05"});
  CHECK(first_of(found).sentence == diagnosis::changed_by_each_call);
  CHECK(first_of(found).bug_class == BugClass::table_cache);
  // Without a new process to try, nobody can tell.
  subject.forget = nullptr;
  CHECK(first_of(diagnosed(subject, {"ROT-01", "ANG-05"})).sentence == diagnosis::different_each_time);
}
