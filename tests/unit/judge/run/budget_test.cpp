#include "tools/judge/run/budget.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <thread>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope {
namespace {

using namespace std::chrono_literals;
using test::Fake;
using test::narrow_claims;
using test::right;

SubjectReport run_with(Subject& subject, std::optional<std::chrono::duration<double>> time, double diagnosis = 0,
                       bool fail_fast = false) {
  SuiteOptions how;
  how.selection.level = Level::quick;
  how.selection.only = {"ROT", "REL", "ANG", "POS", "SPC", "ERR"};
  how.fail_fast = fail_fast;
  if (time) how.budget = {*time, diagnosis, most_telling_first()};
  Oracles oracles;
  return run_suite(subject, oracles, all_requirements(), how);
}

Reply slow(Call& call) {
  std::this_thread::sleep_for(2ms);
  return right(call);
}

TEST_CASE("budget: every beginning of the order is spread over all cases") {
  CHECK(spread_order(0).empty());
  CHECK(spread_order(1) == std::vector<std::size_t>{0});
  CHECK(spread_order(8) == std::vector<std::size_t>{0, 4, 2, 6, 1, 5, 3, 7});
  for (const std::size_t count : {2U, 3U, 100U, 145U}) {
    std::vector<std::size_t> order = spread_order(count);
    CHECK(order.front() == 0);
    std::ranges::sort(order);
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    CHECK(order == all);
  }
}

TEST_CASE("budget: the first case of each task comes first, by rank, and costly cases wait") {
  using Order = std::vector<std::pair<std::size_t, std::size_t>>;  // task and case
  const auto order_of = [](const std::vector<QueuedTask>& tasks) {
    Order order;
    for (const Turn& turn : fair_turns(tasks)) {
      CHECK(turn.end == turn.begin + 1);
      order.emplace_back(turn.task, turn.begin);
    }
    return order;
  };
  CHECK(order_of({{{1, 1, 1}, 5}, {{1, 1}, 0}, {{2.5, 1}, 1}, {{1}, 5}}) ==
        Order{{1, 0}, {0, 0}, {3, 0}, {1, 1}, {2, 0}, {0, 1}, {2, 1}, {0, 2}});
  // With three shares: three cases for each one of the other.
  CHECK(order_of({{{1, 1, 1}, 1}, {{1, 1, 1, 1, 1}, 0, 3}}) ==
        Order{{1, 0}, {0, 0}, {1, 1}, {1, 2}, {1, 3}, {0, 1}, {1, 4}, {0, 2}});
}

TEST_CASE("budget: cases that it leaves out are counted, and the run has no verdict") {
  Fake all_of_it(narrow_claims(), right);
  const SubjectReport whole = run_with(all_of_it, std::nullopt);
  Fake subject(narrow_claims(), slow);
  const SubjectReport report = run_with(subject, 80ms);
  CHECK(report.executed() > 0);
  CHECK(report.executed() + report.left_out() == whole.executed());
  CHECK(report.count(Verdict::not_judged) > 0);
  CHECK(report.count(Verdict::not_claimed) == whole.count(Verdict::not_claimed));
  CHECK(report.results.size() == whole.results.size());
  CHECK_FALSE(report.conforms());
  CHECK_FALSE(report.as_expected());
  CHECK(report.horizons.empty());
  // ROT-01 is the most telling.
  CHECK(std::ranges::find(report.results, "ROT-01", &RequirementResult::id)->cases > 0);
}

TEST_CASE("budget: if there is enough time, the verdict is the same as without one") {
  Fake subject(narrow_claims(), right), other(narrow_claims(), right);
  const SubjectReport report = run_with(subject, 1h), whole = run_with(other, std::nullopt);
  CHECK(report.conforms());
  CHECK(report.left_out() == 0);
  CHECK(report.calls == whole.calls);
  CHECK(report.horizons.size() == whole.horizons.size());
  REQUIRE(report.results.size() == whole.results.size());
  for (std::size_t i = 0; i < whole.results.size(); ++i) {
    CHECK(report.results[i].verdict == whole.results[i].verdict);
    CHECK(report.results[i].cases == whole.results[i].cases);
  }
}

TEST_CASE("budget: a failure is found early, shrunk in a part of the time, and leaves time to the diagnosis") {
  Fake subject(narrow_claims(), [](Call& call) {
    const Reply reply = slow(call);
    if (reply.status == ROPE_OK && call.q_out && !call.q_out->bytes.empty()) call.q_out->bytes[3] ^= std::byte{1};
    return reply;
  });
  const auto start = std::chrono::steady_clock::now();
  const SubjectReport report = run_with(subject, 1s, 0.5);
  const auto used = std::chrono::steady_clock::now() - start;
  CHECK(report.count(Verdict::fail) > 0);
  CHECK_FALSE(report.conforms());
  CHECK(used >= 400ms);
  CHECK(used < 950ms);
  Fake again(narrow_claims(), [](Call& call) {
    const Reply reply = right(call);
    if (reply.status == ROPE_OK && call.q_out && !call.q_out->bytes.empty()) call.q_out->bytes[3] ^= std::byte{1};
    return reply;
  });
  const SubjectReport fast = run_with(again, 1h, 0.5, true);
  CHECK(fast.count(Verdict::fail) == 1);
  CHECK(fast.left_out() > 0);
}

}  // namespace
}  // namespace rope
