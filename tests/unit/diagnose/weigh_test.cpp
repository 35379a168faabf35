#include "tools/diagnose/weigh.hpp"

#include <catch2/catch.hpp>

#include <random>

#include "tests/unit/diagnose/subjects.hpp"
#include "tools/judge/call/tensor_walk.hpp"

using namespace rope;
using namespace rope::test;

namespace {

// Calls from position 0, 1, .. on, of a kernel that is a position ahead in one of them, and noise in the others.
std::vector<diagnosis::Weighed> weighed(int cases, int explained) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(50, 100);
  Fake subject(all_claims(), [&](Call& call) {
    const bool is_explained = call.position_offset == explained;
    if (is_explained) ++call.position_offset;
    const Reply reply = right(call);
    if (is_explained) return reply;
    Tensor& out = call.q_out.value();
    for_each_row(out, [&](const RowIndex&, std::byte* row) {
      for (std::int64_t j = 0; j < out.shape[3]; ++j) store(out.dtype, row + j * feature_step(out), noise(random));
    });
    return reply;
  });
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  diagnosis::Observations seen;
  for (int i = 0; i < cases; ++i) {
    Case c;
    c.spec.head_dim = c.spec.rotary_dim = 8;
    c.source = AngleSource::computed;
    c.start = i;
    seen.push_back(diagnosis::observe(c, examiner));
    REQUIRE(seen.back()->failed());
  }
  return diagnosis::Scales().weigh(seen, diagnosis::Care::thorough);
}

}  // namespace

// Of 28 cases the first look takes 0, 2, 4 and so on.
TEST_CASE("A cause is weighed although it shows in no case that is looked at first") {
  const auto found = weighed(28, 7);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().explained > 0);
  CHECK(weighed(28, -1).empty());
}
