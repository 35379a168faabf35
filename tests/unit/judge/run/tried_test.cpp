#include "tools/judge/run/tried.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <set>

#include "tests/unit/judge/run/fake_subject.hpp"
#include "tests/unit/judge/run/suite_run.hpp"
#include "tools/judge/verdict/expectation.hpp"

namespace rope {
namespace {

using test::Fake;
using test::narrow_claims;
using test::right;

TEST_CASE("tried: a set of positions has the intervals of those that were added, in any order") {
  std::mt19937_64 random(1);
  PositionSet set, other;
  std::set<std::int64_t> added;
  for (int i = 0; i < 3000; ++i) {
    const auto first = static_cast<std::int64_t>(random() % 5000);
    const auto last = first + static_cast<std::int64_t>(random() % 3);
    (i % 3 == 0 ? other : set).add(first, last);
    for (std::int64_t p = first; p <= last; ++p) added.insert(p);
  }
  set.add(other);
  std::set<std::int64_t> found;
  std::int64_t before = -2;
  for (const Range& one : set.intervals()) {
    CHECK(one.least > before + 1);
    for (std::int64_t p = one.least; p <= one.most; ++p) found.insert(p);
    before = one.most;
  }
  CHECK(found == added);
}

SuiteOptions only(std::vector<std::string> ids) {
  SuiteOptions how = test::options();
  how.selection.only = std::move(ids);
  return how;
}

TEST_CASE("tried: a run names the positions and sizes of its calls, and no others") {
  std::set<std::int64_t> positions, head_dims;
  std::int64_t most_tokens = 0;
  Fake subject(narrow_claims(), [&](Call& call) {
    for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
      for (std::int64_t s = 0; s < call.q.shape[1]; ++s) positions.insert(token_position(call, b, s)[0]);
    }
    head_dims.insert(call.q.shape[3]);
    most_tokens = std::max(most_tokens, call.q.shape[1]);
    return right(call);
  });
  SuiteOptions how = only({"ROT-04", "ANG-02", "SHP-01"});
  const std::vector<Tried> tried = test::run(subject, how).tried;
  REQUIRE(tried.size() == 1);
  CHECK(tried[0].dtype == DType::f32);
  CHECK(tried[0].source == AngleSource::computed);
  std::int64_t every = -1;
  while (positions.contains(every + 1)) ++every;
  CHECK(tried[0].every_to == every);
  CHECK(every > 1000);
  CHECK(tried[0].beyond == static_cast<std::int64_t>(positions.size()) - every - 1);
  CHECK(tried[0].largest == *positions.rbegin());
  CHECK(tried[0].claimed == 1 << 20);
  CHECK(tried[0].head_dims == std::vector<std::int64_t>(head_dims.begin(), head_dims.end()));
  CHECK(tried[0].tokens.most == most_tokens);
}

TEST_CASE("tried: a call that crashed tried nothing, nor does its requirement say that it went so far") {
  constexpr std::int64_t limit = 1000;
  Fake subject(narrow_claims(), [](Call& call) {
    if (call.position_offset + call.q.shape[1] > limit) return Reply{ReplyKind::crashed, ROPE_FAILED, "died", 0};
    return right(call);
  });
  const SubjectReport report = test::run(subject, only({"ANG-02"}));
  REQUIRE(report.tried.size() == 1);
  CHECK(report.results[0].failed > 0);
  CHECK(report.tried[0].largest < limit);
  CHECK(report.results[0].largest_position < limit);
}

TEST_CASE("tried: it is the same however many jobs there are") {
  std::vector<std::vector<Tried>> found;
  for (const std::size_t jobs : {1, 4}) {
    KernelSubject subject(half_split_kernel());
    SuiteOptions how = only({"ROT", "ANG"});
    how.jobs = jobs;
    found.push_back(test::run(subject, how).tried);
  }
  CHECK(found[0].size() == 12);
  CHECK(found[0] == found[1]);
}

}  // namespace
}  // namespace rope
