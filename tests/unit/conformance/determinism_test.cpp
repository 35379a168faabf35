#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "impls/builtin.hpp"
#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"
#include "tools/judge/run/kernel_subject.hpp"

namespace rope {
namespace {

// Right, except for the last bit of one element in every third call.
std::int32_t unsteady(const rope_call* call) {
  static int calls = 0;
  const std::int32_t status = half_split_kernel().apply(call);
  if (++calls % 3 == 0) *static_cast<std::uint32_t*>(call->q_out.data) ^= 1;
  return status;
}

// A cache of frequencies whose key is only the number of tokens; many caches use the length of their table.
std::int32_t keyed_by_tokens(const rope_call* call) {
  static std::int64_t tokens = 0;
  static double base = 0;
  rope_call cached = *call;
  if (call->q.shape[1] != tokens) base = call->base;
  tokens = call->q.shape[1];
  cached.base = base;
  return half_split_kernel().apply(&cached);
}

Finding found_in(const rope_kernel& kernel, const char* requirement) {
  KernelSubject subject(kernel);
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 16;
  c.source = AngleSource::computed;
  return requirement_called(requirement).check(c, examiner);
}

Finding found(const char* requirement, std::int32_t (*apply)(const rope_call*)) {
  rope_kernel kernel = half_split_kernel();
  kernel.apply = apply;
  return found_in(kernel, requirement);
}

// dynamic by the longest sequence of the calls so far, which a call within the original length makes it forget.
std::int32_t by_longest(const rope_call* call) {
  static std::int64_t longest = 0;
  rope_call kept = *call;
  if (call->angle_source == ROPE_COMPUTED && call->scaling.kind == ROPE_SCALING_DYNAMIC) {
    const bool is_long = static_cast<double>(call->sequence_length) > call->scaling.original_max_position;
    longest = is_long ? std::max(longest, call->sequence_length) : 0;
    kept.sequence_length = is_long ? longest : call->sequence_length;
  }
  return half_split_kernel().apply(&kept);
}

TEST_CASE("the longest sequence is not kept, also if a short call would end that", "[determinism]") {
  rope_kernel kernel = half_split_kernel();
  const auto verdict = [&] {
    KernelSubject subject(kernel);
    Oracles oracles;
    SuiteOptions how;
    how.selection.level = Level::quick;
    how.selection.only = {"STA-01"};
    return run_suite(subject, oracles, all_requirements(), how).results.at(0).verdict;
  };
  CHECK(verdict() == Verdict::pass);
  kernel.apply = by_longest;
  CHECK(verdict() == Verdict::fail);
}

TEST_CASE("a last bit that comes and goes is found, and both values are reported", "[determinism]") {
  CHECK(found("DET-01", half_split_kernel().apply).passed());
  const Finding finding = found("DET-01", unsteady);
  REQUIRE(finding.kind == FailureKind::repetition);
  CHECK(finding.wrong == 1);
  CHECK(finding.element->expected != finding.element->actual);
  CHECK(finding.element->feature == 0);
}

TEST_CASE("two calls at the same time have the claimed base, and another one where every base is claimed",
          "[determinism]") {
  static std::atomic<bool> other_base;
  const auto passes = [](double claimed) {
    rope_kernel kernel = half_split_kernel();
    kernel.claims.base = claimed;
    kernel.apply = [](const rope_call* call) -> std::int32_t {
      if (call->base == 10000) return half_split_kernel().apply(call);
      other_base = true;
      return ROPE_UNSUPPORTED;
    };
    other_base = false;
    return found_in(kernel, "DET-03").passed();
  };
  CHECK(passes(10000));
  CHECK_FALSE(other_base);
  CHECK_FALSE(passes(0));
  CHECK(other_base);
}

TEST_CASE("state that one call leaves for another is found", "[determinism]") {
  CHECK(found("STA-01", half_split_kernel().apply).passed());
  CHECK(found("STA-01", keyed_by_tokens).kind == FailureKind::value);
}

TEST_CASE("calls between are as long as their positions say, also far behind the case", "[determinism]") {
  int far = 0, too_short = 0;
  Claims claims = test::all_claims();
  claims.capabilities.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  test::Fake subject(claims, [&](Call& call) {
    if (call.position_offset >= 2000) ++far;
    if (call.position_offset + call.q.shape[1] > call.sequence_length) ++too_short;
    return test::right(call);
  });
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  const Case c = case_from_text("STA-01:head_dim=16,source=computed,sequence_length=1000");
  CHECK(requirement_called("STA-01").check(c, examiner).passed());
  CHECK(far > 0);
  CHECK(too_short == 0);
}

TEST_CASE("rows cached by number of tokens, first and last position are found", "[determinism]") {
  const auto ends = [](const Tensor& p) {
    return std::pair(p.bytes.front(), p.bytes[p.bytes.size() - size_of(p.dtype)]);
  };
  std::optional<Tensor> kept;
  test::Fake subject(test::all_claims(), [&](Call& call) {
    if (call.positions && kept && kept->shape == call.positions->shape && ends(*kept) == ends(*call.positions)) {
      std::swap(call.positions, kept);
      const Reply reply = test::right(call);
      std::swap(call.positions, kept);
      return reply;
    }
    if (call.positions) kept = call.positions;
    return test::right(call);
  });
  subject.forget = [&] { kept.reset(); };
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  const Case c = case_from_text("STA-01:head_dim=16,source=computed,form=shared,seq=6");
  CHECK(requirement_called("STA-01").check(c, examiner).kind == FailureKind::value);
}

// A table that grows to the longest length seen, in the dtype of the call that made it grow.
class GrownInTheTypeOfTheCall {
 public:
  Reply operator()(Call& call) {
    const std::int64_t rows = call.position_offset + call.q.shape[1];
    if (rows > rows_) std::tie(rows_, coarse_) = std::pair(rows, call.q.dtype == DType::bf16);
    const double given = call.attention_factor;
    if (coarse_ && call.q.dtype != DType::bf16) call.attention_factor *= 1.003;
    const Reply reply = test::right(call);
    call.attention_factor = given;
    return reply;
  }
  void forget() { rows_ = 0; }

 private:
  std::int64_t rows_ = 0;
  bool coarse_ = false;
};

TEST_CASE("STA-02 makes the calls before in a new process, and judges the case's own", "[determinism]") {
  GrownInTheTypeOfTheCall table;
  Claims claims = test::all_claims();
  claims.capabilities.angle_sources = ROPE_BIT(ROPE_COMPUTED);
  test::Fake subject(claims, std::ref(table));
  int processes = 0;
  subject.forget = [&] { ++processes, table.forget(); };
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  const auto finds = [&](const std::string& rest) {
    const Case c = case_from_text("STA-02:head_dim=16,source=computed" + rest);
    return checked(requirement_called("STA-02"), c, examiner).kind;
  };
  CHECK(finds(",seq=300") == FailureKind::none);
  CHECK(processes == 0);
  CHECK(finds(",seq=300,before=f32:3:0+bf16:300:0") == FailureKind::value);
  CHECK(finds(",seq=300,before=bf16:300:0+f32:3:0") == FailureKind::value);
  CHECK(finds(",seq=3,start=40,before=f32:3:0+bf16:3:40") == FailureKind::value);
  CHECK(finds(",seq=300,before=f32:300:0+bf16:3:0") == FailureKind::none);
  CHECK(finds(",seq=300,before=bf16:3:0") == FailureKind::none);
  CHECK(finds(",seq=300,dtype=bf16,out_dtype=bf16,before=f32:300:0") == FailureKind::none);
  CHECK(processes == 6);
}

std::vector<Case> cases_of_state(const Claims& claims, Level level, std::string_view id = "STA-02") {
  Selection selection;
  selection.level = level;
  CaseList list(id, claims, selection, nullptr);
  requirement_called(id).cases(list);
  return list.take();
}

TEST_CASE("DET-03: at level full one way from each source has all changes, the others one in turn", "[determinism]") {
  using Way = std::tuple<DType, AngleSource, Pairing>;
  const auto calls = [](Level level) {
    std::map<Way, int> of_way;
    Claims claims = test::all_claims();
    claims.concurrent_calls = true;
    for (const Case& c : cases_of_state(claims, level, "DET-03")) ++of_way[{c.dtype, c.source, c.spec.pairing}];
    REQUIRE(of_way.size() >= 2);
    return of_way;
  };
  std::map<AngleSource, int> with_all;
  for (const auto& [way, count] : calls(Level::full)) {
    CHECK((count == 2 || count == 7));  // the call itself, and one change of six or all
    with_all[std::get<AngleSource>(way)] += count == 7 ? 1 : 0;
  }
  CHECK(with_all == std::map<AngleSource, int>{
                        {AngleSource::tables, 1}, {AngleSource::frequencies, 0}, {AngleSource::computed, 1}});
  for (const auto& [way, count] : calls(Level::quick)) CHECK(count == 2);
  for (const auto& [way, count] : calls(Level::exhaustive)) CHECK(count == 7);
}

TEST_CASE("STA-01: a case, which makes fifty calls, has few heads", "[determinism]") {
  for (const Case& c : cases_of_state(test::all_claims(), Level::full, "STA-01")) {
    CHECK(c.heads <= 4);
    CHECK(c.key_heads <= 4);
  }
}

TEST_CASE("STA-01: level quick meets each kept rule in one type of x, level full in each", "[determinism]") {
  std::map<Level, std::map<std::size_t, std::set<DType>>> types;  // by rule
  for (const Level level : {Level::quick, Level::full}) {
    for (const Case& c : cases_of_state(test::all_claims(), level, "STA-01")) {
      const bool is_drawn = c.batch != 2 || c.seq != 3 || c.sequence_length != 1000;
      if (!is_drawn && c.spec.scaling.index() != 0) types[level][c.spec.scaling.index()].insert(c.dtype);
    }
  }
  CHECK(types[Level::quick].size() == 6);
  CHECK(types[Level::full].size() == 6);
  std::set<DType> met;
  for (const auto& [rule, dtypes] : types[Level::quick]) {
    CHECK(dtypes.size() == 1);
    met.insert(dtypes.begin(), dtypes.end());
  }
  CHECK(met.size() == 4);
  for (const auto& [rule, dtypes] : types[Level::full]) CHECK(dtypes.size() == 4);
}

TEST_CASE("STA-02: every dtype comes after every other one, by length and by offset", "[determinism]") {
  std::set<std::tuple<DType, DType, bool>> met;
  for (const Case& c : cases_of_state(test::all_claims(), Level::full)) {
    REQUIRE_FALSE(c.before.empty());
    const EarlierCall& last = c.before.back();
    if (c.source == AngleSource::computed && last.dtype != c.dtype) met.emplace(c.dtype, last.dtype, last.start > 0);
  }
  CHECK(met.size() == 4 * 3 * 2);
  std::set<DType> types;
  for (const Case& c : cases_of_state(test::all_claims(), Level::quick)) types.insert(c.dtype);
  CHECK(types.size() == 4);
}

TEST_CASE("STA-02: an interpreter is started few times", "[determinism]") {
  Claims slow = test::all_claims();
  slow.compiled = false;
  CHECK(cases_of_state(slow, Level::quick).size() == 2);
  CHECK(cases_of_state(slow, Level::full).size() == 8);
}

TEST_CASE("a kernel that is wrong by itself costs one new process, not one for each call between", "[determinism]") {
  int processes = 0;
  test::Fake subject(test::all_claims(), [](Call& call) {
    const double given = std::exchange(call.base, 3);
    const Reply reply = test::right(call);
    call.base = given;
    return reply;
  });
  subject.forget = [&] { ++processes; };
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  CHECK(requirement_called("STA-01").check(case_from_text("STA-01:head_dim=16,source=computed"), examiner).passed());
  CHECK(processes == 1);
}

TEST_CASE("no grade is demanded of the calls in between, in types that were not asked for", "[determinism]") {
  KernelSubject subject(half_split_kernel());
  Oracles oracles;
  const Grade demanded{AngleGrade::A, ArithmeticGrade::one};
  Examiner examiner(subject, oracles, nullptr, demanded);
  const Case c = case_from_text("STA-01:head_dim=16,source=computed,start=5000");
  CHECK(requirement_called("STA-01").check(c, examiner).passed());
  // f64 cannot be of grade A: its angles would have to be better than double.
  const Case wide = case_from_text("ROT-01:head_dim=16,source=computed,start=100000,dtype=f64,out_dtype=f64");
  CHECK_FALSE(examiner.accuracy(wide).passed());
}

TEST_CASE("a call that is wrong in a new process too is not blamed on earlier ones", "[determinism]") {
  bool always = true, after_f32 = false;
  test::Fake subject(test::all_claims(), [&](Call& call) {
    after_f32 = after_f32 || call.q.dtype == DType::f32;
    const bool wrong = call.q.dtype == DType::f64 && (always || after_f32);
    const double given = std::exchange(call.base, wrong ? 3 : call.base);
    const Reply reply = test::right(call);
    call.base = given;
    return reply;
  });
  subject.forget = [&] { after_f32 = false; };
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  const Case c = case_from_text("STA-01:head_dim=16,source=computed");
  CHECK(requirement_called("STA-01").check(c, examiner).passed());
  always = false;
  CHECK_FALSE(requirement_called("STA-01").check(c, examiner).passed());
}

}  // namespace
}  // namespace rope
