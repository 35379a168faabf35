// The report of a run does not depend on the number of jobs.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"
#include "tools/judge/run/suite.hpp"
#include "tools/report/json.hpp"

namespace rope {
namespace {

using test::narrow_claims;
using test::right;

// What a kernel's process has seen.
struct Seen {
  std::int64_t calls = 0;
  std::int64_t first_offset = -1;
};

using Kernel = std::function<Reply(Call&, Seen&)>;

// A kernel that can be opened several times, as often as `most` says; the first one counts.
class Process : public Subject {
 public:
  Process(const Kernel& kernel, int most) : kernel_(kernel), most_(most) {
    claims_.compiled = true;
    claims_.concurrent_calls = true;
  }

  const std::string& name() const override { return name_; }
  const Claims& claims() const override { return claims_; }
  std::int64_t deaths() const override { return deaths_; }
  Opener opener() const override {
    return [&kernel = kernel_, most = most_, opened = opened_] {
      if (++*opened >= most) throw std::runtime_error("no more of them");
      return std::make_unique<Process>(kernel, most);
    };
  }
  bool renew() override {
    seen_ = {};
    return true;
  }
  Reply apply(Call& call) override {
    ++seen_.calls;
    const Reply reply = kernel_(call, seen_);
    if (reply.kind == ReplyKind::crashed) {
      ++deaths_;
      seen_ = {};
    }
    return reply;
  }
  std::optional<Reply> apply_concurrently(Call& call, Call& /*companion*/) override { return apply(call); }

  int opened() const { return *opened_; }

 private:
  std::string name_ = "process";
  Claims claims_ = narrow_claims();
  const Kernel& kernel_;
  int most_;
  std::shared_ptr<std::atomic<int>> opened_ = std::make_shared<std::atomic<int>>(0);
  Seen seen_;
  std::int64_t deaths_ = 0;
};

SuiteOptions with_jobs(std::size_t jobs) {
  SuiteOptions how;
  how.selection.level = Level::quick;
  how.jobs = jobs;
  return how;
}

SubjectReport judged_with(Subject& subject, const SuiteOptions& how) {
  Oracles oracles;
  return run_suite(subject, oracles, all_requirements(), how);
}

// The report as JSON, without times.
nlohmann::json told(const SubjectReport& report) {
  nlohmann::json json = nlohmann::json::parse(json_report({"", {report}, {}}));
  for (const char* time : {"seconds", "kernel_seconds"}) {
    json["subjects"][0].erase(time);
    for (nlohmann::json& requirement : json["subjects"][0]["requirements"]) requirement.erase(time);
  }
  return json;
}

// Runs the kernel with 1, 2 and 4 jobs.
SubjectReport same_for_all_jobs(const Kernel& kernel, SuiteOptions how, int most = 100) {
  std::optional<SubjectReport> first;
  for (const std::size_t jobs : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
    INFO(jobs << " jobs");
    how.jobs = jobs;
    Process subject(kernel, most);
    const SubjectReport report = judged_with(subject, how);
    const int lanes = 4, for_heatmaps = report.heatmaps.empty() ? 0 : 1;
    if (!how.fail_fast) CHECK(subject.opened() == lanes - 1 + for_heatmaps);
    if (first) CHECK(told(report) == told(*first));
    if (!first) first = report;
  }
  return *first;
}

Reply turned_too_far(Call& call, std::int64_t by) {
  Call other = call;
  other.position_offset += by;
  const Reply reply = right(other);
  call.q_out = other.q_out;
  return reply;
}

const RequirementResult& result_of(const SubjectReport& report, std::string_view id) {
  return *std::ranges::find(report.results, id, &RequirementResult::id);
}

TEST_CASE("a right kernel's report is the same for every number of jobs", "[jobs]") {
  const SubjectReport report = same_for_all_jobs([](Call& call, Seen&) { return right(call); }, with_jobs(1));
  CHECK(report.conforms());
  CHECK(report.grades.size() == 1);
  CHECK(report.horizons.size() == 1);
  REQUIRE(report.results.size() == all_requirements().size());
  for (std::size_t i = 0; i < report.results.size(); ++i) CHECK(report.results[i].id == all_requirements()[i].id);
  CHECK(result_of(report, "DET-03").cases > 0);
}

TEST_CASE("a wrong kernel's report is the same for every number of jobs", "[jobs]") {
  const Kernel kernel = [](Call& call, Seen&) { return turned_too_far(call, call.q.shape[0] > 1 ? 1 : 0); };
  const SubjectReport report = same_for_all_jobs(kernel, with_jobs(1));
  CHECK(report.count(Verdict::fail) > 5);
  CHECK(result_of(report, "ROT-01").failure->minimal.batch == 2);

  SuiteOptions how = with_jobs(1);
  how.fail_fast = true;
  const SubjectReport fast = same_for_all_jobs(kernel, how);
  CHECK(fast.count(Verdict::fail) == 1);
  REQUIRE(fast.results.back().verdict == Verdict::fail);
  const auto fails = [](const RequirementResult& r) { return r.verdict == Verdict::fail; };
  CHECK(fast.results.back().id == std::ranges::find_if(report.results, fails)->id);
}

TEST_CASE("what a process remembers stays in its lane, for every number of jobs", "[jobs]") {
  // The first call of a process decides for all later ones.
  const SubjectReport report = same_for_all_jobs(
      [](Call& call, Seen& seen) {
        if (seen.calls == 1) seen.first_offset = call.position_offset;
        return turned_too_far(call, seen.first_offset - call.position_offset);
      },
      with_jobs(1));
  CHECK(result_of(report, "STA-01").verdict == Verdict::fail);
  CHECK(std::ranges::any_of(report.results,
                            [](const RequirementResult& r) { return r.failure && r.failure->needs_earlier_calls; }));
}

TEST_CASE("a process that dies or hangs ends no other lane, for every number of jobs", "[jobs]") {
  const auto is_hit = [](const Call& call) { return call.q.shape[1] == 3; };
  const SubjectReport dying = same_for_all_jobs(
      [&](Call& call, Seen&) {
        return is_hit(call) ? Reply{ReplyKind::crashed, ROPE_FAILED, "it is gone", 0} : right(call);
      },
      with_jobs(1));
  CHECK(dying.count(Verdict::fail) > 0);
  CHECK(dying.count(Verdict::pass) > 0);
  const SubjectReport hanging = same_for_all_jobs(
      [&](Call& call, Seen&) {
        return is_hit(call) ? Reply{ReplyKind::timed_out, ROPE_FAILED, "did not return", 0} : right(call);
      },
      with_jobs(1));
  CHECK(hanging.count(Verdict::fail) > 0);
  CHECK(hanging.count(Verdict::pass) > 0);
}

TEST_CASE("a kernel that cannot run twice at once is judged whole, in its one process", "[jobs]") {
  for (const std::size_t jobs : {std::size_t{1}, std::size_t{4}}) {
    std::atomic<int> inside = 0, together = 0;
    const Kernel kernel = [&](Call& call, Seen&) {
      together += ++inside > 1 ? 1 : 0;
      const Reply reply = right(call);
      --inside;
      return reply;
    };
    Process subject(kernel, 1);
    const SubjectReport report = judged_with(subject, with_jobs(jobs));
    CHECK(report.conforms());
    CHECK(together == 0);
    CHECK(report.results.size() == all_requirements().size());
    CHECK((report.horizons.size() == 1 && report.heatmaps.size() == 1));
    CHECK(subject.opened() == 4);  // each other lane tried once, and the heatmaps
  }
}

TEST_CASE("of several errors the first requirement's ends the run, for every number of jobs", "[jobs]") {
  std::set<std::string> messages;
  for (const std::size_t jobs : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
    const Kernel kernel = [](Call& call, Seen&) -> Reply {
      if (call.q.shape[1] > 3) throw InputError("no room for " + std::to_string(call.q.count()) + " elements");
      return right(call);
    };
    Process subject(kernel, 100);
    const SubjectReport report = judged_with(subject, with_jobs(jobs));
    CHECK(report.interrupted);
    CHECK(report.executed() > 0);
    messages.insert(report.ended_by);
  }
  CHECK(messages.size() == 1);
  CHECK_THAT(*messages.begin(), Catch::StartsWith("no room for "));
}

TEST_CASE("an error before any case was judged is thrown", "[jobs]") {
  const Kernel kernel = [](Call&, Seen&) -> Reply { throw InputError("no room at all"); };
  Process subject(kernel, 100);
  CHECK_THROWS_WITH(judged_with(subject, with_jobs(2)), "no room at all");
}

TEST_CASE("a stopped run ends every lane at its next case", "[jobs]") {
  Stop stop;
  std::atomic<int> calls = 0, calls_after = 0;
  const Kernel kernel = [&](Call& call, Seen&) {
    if (stop.requested()) ++calls_after;
    if (++calls == 100) stop.request();
    return right(call);
  };
  Process subject(kernel, 100);
  SuiteOptions how = with_jobs(4);
  how.selection.only = {"ROT", "ANG"};  // a call or two for each case
  how.stop = &stop;
  const SubjectReport report = judged_with(subject, how);
  CHECK(report.interrupted);
  CHECK_FALSE(report.conforms());
  CHECK(report.executed() > 0);
  CHECK(calls_after <= 3 * 4);
}

TEST_CASE("progress counts every case once, whatever the number of jobs", "[jobs]") {
  const Kernel kernel = [](Call& call, Seen&) { return right(call); };
  Process subject(kernel, 100);
  SuiteOptions how = with_jobs(4);
  std::mutex mutex;
  std::int64_t last = 0, all = 0, wrong = 0;
  how.progress = [&](const Progress& at) {
    const std::scoped_lock lock(mutex);
    wrong += at.cases != last + 1 || at.index >= at.count ? 1 : 0;
    last = at.cases;
    all = at.all_cases;
  };
  judged_with(subject, how);
  CHECK(wrong == 0);
  CHECK(last == all);
}

}  // namespace
}  // namespace rope
