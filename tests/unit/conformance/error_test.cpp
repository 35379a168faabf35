// ERR on kernels that omit one check of their arguments.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/conformance/found_by.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope {
namespace {

using Catch::Contains;
using test::found_by;
using test::right;

std::map<std::string, std::set<Fault>> faults_by_requirement() {
  std::map<std::string, std::set<Fault>> faults;
  for (const Requirement& requirement : all_requirements()) {
    if (requirement.handling.shown_by != ShownBy::status) continue;
    CaseList list(requirement.id, test::all_claims(), {}, nullptr);
    requirement.cases(list);
    for (const Case& c : list.take()) faults[std::string(requirement.id)].insert(c.fault);
  }
  return faults;
}

TEST_CASE("ERR: each fault that has a word is tested by one requirement", "[error]") {
  std::map<Fault, int> asked;
  for (const auto& [requirement, faults] : faults_by_requirement()) {
    for (const Fault fault : faults) ++asked[fault];
  }
  for (const FaultRow& known : fault_rows()) {
    INFO(known.word);
    CHECK(asked[known.fault] == (known.fault == Fault::none ? 0 : 1));
  }
}

TEST_CASE("ERR: a status other than ok is a refusal, and ok is not", "[error]") {
  for (const Requirement& requirement : error_requirements()) {
    CaseList list(requirement.id, test::all_claims(), {}, nullptr);
    requirement.cases(list);
    std::set<Fault> seen;
    for (const Case& c : list.take()) {
      if (c.spec.pairing != Pairing::half_split || !seen.insert(c.fault).second) continue;
      INFO(to_text(c));
      CHECK(found_by(to_text(c), right).passed());
      for (const std::int32_t status : {ROPE_UNSUPPORTED, ROPE_INVALID_ARGUMENT, ROPE_FAILED}) {
        CHECK(found_by(to_text(c), [=](Call&) { return Reply{ReplyKind::done, status, "", 0}; }).passed());
      }
      const Finding accepted = found_by(to_text(c), [](Call&) { return Reply{}; });
      CHECK(accepted.kind == FailureKind::status);
      CHECK_THAT(accepted.message,
                 Contains("answered ok to a call that is wrong: " + std::string(row_of(c.fault).meaning)));
      const Finding died = found_by(to_text(c), [](Call&) { return Reply{ReplyKind::crashed, 0, "it is gone", 0}; });
      CHECK(died.kind == FailureKind::crash);
    }
    CHECK_FALSE(seen.empty());
  }
}

bool is_outside(const Call& call, std::int64_t position) {
  return position < 0 || position + (call.positions ? 0 : call.q.shape[1] - 1) >= call.cos->shape[0];
}

// Whether a position of this batch on this axis has no row.
bool is_outside_tables(const Call& call, std::int64_t batch, std::int64_t axis) {
  if (!call.cos || !call.positions || call.positions->dtype == DType::f32) return false;
  const Tensor& p = *call.positions;
  if (batch >= p.shape[1] || axis >= p.shape[0]) return false;
  for (std::int64_t s = 0; s < p.shape[2]; ++s) {
    if (is_outside(call, integer_at(p, axis * p.strides[0] + batch * p.strides[1] + s * p.strides[2]))) return true;
  }
  return false;
}

// A kernel that has every check but one: it says ok to calls like `accepts`.
std::set<std::string> found_where(bool (*accepts)(const Call&)) {
  Claims claims = test::all_claims();
  claims.capabilities.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  test::Fake subject(claims, [=](Call& call) { return accepts(call) ? Reply{} : right(call); });
  Oracles oracles;
  SuiteOptions how;
  how.selection.level = Level::quick;
  how.selection.only = {"ERR"};
  std::set<std::string> failed;
  for (const RequirementResult& result : run_suite(subject, oracles, all_requirements(), how).results) {
    CHECK(result.cases > 0);
    if (result.failed > 0) failed.insert(result.id);
  }
  return failed;
}

TEST_CASE("ERR: the omitted check is the one that is named", "[error]") {
  using Ids = std::set<std::string>;
  CHECK(found_where([](const Call&) { return false; }).empty());
  CHECK(found_where([](const Call& call) { return call.rotary_dim % 2 != 0; }) == Ids{"ERR-01"});
  CHECK(found_where([](const Call& call) { return call.rotary_dim < 0; }) == Ids{"ERR-01"});
  // One above an even rotary_dim, so that tables and frequencies have rotary_dim / 2 columns.
  CHECK(found_where([](const Call& call) {
          return call.rotary_dim % 2 != 0 && call.cos && call.cos->shape[1] == call.rotary_dim / 2;
        }) == Ids{"ERR-01"});
  CHECK(found_where([](const Call& call) { return call.rotary_dim > call.q.shape[3]; }) == Ids{"ERR-01"});
  CHECK(found_where([](const Call& call) { return call.q.null; }) == Ids{"ERR-02"});
  CHECK(found_where([](const Call& call) { return call.q_out->null; }) == Ids{"ERR-02"});
  CHECK(found_where([](const Call& call) { return call.cos && (call.cos->null || call.sin->null); }) == Ids{"ERR-02"});
  CHECK(found_where([](const Call& call) { return call.cos && call.position_offset < 0; }) == Ids{"ERR-03"});
  CHECK(found_where([](const Call& call) { return !call.cos && call.position_offset < 0; }) == Ids{"ERR-06"});
  CHECK(found_where([](const Call& call) {
          return call.cos && !call.positions && call.position_offset + call.q.shape[1] > call.cos->shape[0];
        }) == Ids{"ERR-03"});
  CHECK(found_where([](const Call& call) { return is_outside_tables(call, 1, 0); }) == Ids{"ERR-03"});
  CHECK(found_where([](const Call& call) { return is_outside_tables(call, 0, 1); }) == Ids{"ERR-03"});
  CHECK(found_where([](const Call& call) {
          return call.cos && call.seqlen_offsets && !call.cu_seqlens &&
                 is_outside(call, integer_at(*call.seqlen_offsets, call.seqlen_offsets->shape[0] - 1));
        }) == Ids{"ERR-03"});
  CHECK(found_where([](const Call& call) { return call.q.dtype == DType::i32; }) == Ids{"ERR-04"});
  CHECK(found_where([](const Call& call) { return call.q_out->shape != call.q.shape; }) == Ids{"ERR-04"});
  CHECK(found_where([](const Call& call) { return call.k && call.k->shape[1] != call.q.shape[1]; }) == Ids{"ERR-04"});
  CHECK(found_where([](const Call& call) { return static_cast<int>(call.direction) > 1; }) == Ids{"ERR-05"});
  CHECK(found_where([](const Call& call) { return static_cast<int>(call.pairing) > 1; }) == Ids{"ERR-05"});
}

}  // namespace
}  // namespace rope
