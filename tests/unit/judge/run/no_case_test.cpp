#include "tools/judge/run/no_case.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/unit/judge/run/fake_subject.hpp"
#include "tests/unit/judge/run/suite_run.hpp"
#include "tools/judge/case/single_claims.hpp"

namespace rope {
namespace {

using test::Fake;
using test::narrow_claims;
using test::right;

RequirementResult result_of(const std::string& id, const Claims& claims = narrow_claims(),
                            const std::function<void(Selection&)>& choose = [](Selection&) {}) {
  Fake subject(claims, right);
  SuiteOptions how = test::options();
  how.selection.only = {id};
  choose(how.selection);
  return test::run(subject, how).results.at(0);
}

TEST_CASE("no case: a requirement that is not claimed names all claims that it needs") {
  CHECK(result_of("ANG-07").verdict == Verdict::not_claimed);
  CHECK(result_of("ANG-07").lacks == "several position axes");
  CHECK(result_of("BWD-01").lacks == "backward");
  CHECK(result_of("ANG-06").lacks == "tables with unequal halves, angle source tables, full-width tables");
  Claims counting = narrow_claims();
  counting.capabilities.features = 0;
  CHECK(result_of("POS-01", counting).lacks == "a position offset");
}

// As most subjects are.
Claims compiled_claims() {
  Claims claims = narrow_claims();
  claims.far_tensors = claims.packed_tensors = claims.concurrent_calls = claims.compiled = true;
  return claims;
}

TEST_CASE("no case: what the worker lacks is named, too") {
  CHECK(result_of("MEM-06").lacks == "strides; its worker cannot place rows far apart");
  Claims apart = narrow_claims();
  apart.capabilities.features |= ROPE_BIT(ROPE_FEATURE_STRIDED);
  CHECK(result_of("MEM-06", apart).verdict == Verdict::no_case);
  CHECK(result_of("MEM-06", apart).lacks == "its worker cannot place rows far apart");
}

TEST_CASE("no case: with the claims that are named, each requirement has a case") {
  Fake subject(compiled_claims(), right);
  const SubjectReport report = test::run(subject);
  int named = 0;
  for (const RequirementResult& result : report.results) {
    if (result.verdict != Verdict::not_claimed) continue;
    CAPTURE(result.id, result.lacks);
    Claims more = compiled_claims();
    for (const SingleClaim& claim : single_claims()) {
      if ((", " + result.lacks + ", ").find(", " + claim.words + ", ") != std::string::npos) claim.make(more, true);
    }
    if (result.lacks == "a CUDA device") more.capabilities.device = ROPE_CUDA;
    const std::vector<Requirement> all = all_requirements();
    const Requirement& requirement = *std::ranges::find(all, result.id, &Requirement::id);
    CaseList list(result.id, more, test::options().selection, nullptr);
    requirement.cases(list);
    CHECK_FALSE(list.take().empty());
    ++named;
  }
  CHECK(named > 10);
}

TEST_CASE("no case: what is claimed is never called not claimed, whatever else left no case") {
  Claims wide = narrow_claims();
  wide.capabilities.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_BF16);
  REQUIRE(result_of("ROT-13", wide).cases > 0);
  const RequirementResult chosen = result_of("ROT-13", wide, [](Selection& s) { s.dtypes = {DType::f32}; });
  CHECK(chosen.verdict == Verdict::no_case);
  CHECK(chosen.lacks == "the choice of dtypes leaves none");
  const auto only_f32 = [](Selection& s) { s.dtypes = {DType::f32}; };
  CHECK(result_of("ROT-13", narrow_claims(), only_f32).verdict == Verdict::not_claimed);
  const RequirementResult other = result_of("ROT-01", narrow_claims(), [](Selection& s) { s.dtypes = {DType::bf16}; });
  CHECK(other.verdict == Verdict::not_claimed);
  CHECK(other.lacks == "bf16 input");
  const RequirementResult golden = result_of("GLD-03");
  CHECK(golden.verdict == Verdict::no_case);
  CHECK(golden.lacks == "there are no golden files");
}

TEST_CASE("no case: a requirement that files say nothing of is not called unclaimed") {
  Fake subject(narrow_claims(), right);
  const std::vector<Case> none;
  SuiteOptions how = test::options();
  how.selection.only = {"ROT-01"};
  how.cases = &none;
  const RequirementResult result = test::run(subject, how).results.at(0);
  CHECK(result.verdict == Verdict::no_case);
  CHECK(result.lacks == "the files have none");
}

}  // namespace
}  // namespace rope
