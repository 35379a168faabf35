// The basis of `verify --spec`: every requirement holds under every spec, not only under the specs of its own cases.
#include <catch2/catch.hpp>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"
#include "tests/unit/property.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope {
namespace {

TEST_CASE("a right kernel conforms under any selected spec", "[suite]") {
  const auto wrong = test::counterexample(
      [] {
        SuiteOptions options;
        options.selection.level = Level::quick;
        options.selection.spec = test::any_case().spec;
        options.selection.dtypes = {DType::f32, DType::bf16};
        RC_LOG(to_json(*options.selection.spec));
        KernelSubject subject(complex_kernel());
        Oracles oracles;
        const SubjectReport report = run_suite(subject, oracles, all_requirements(), options);
        for (const RequirementResult& result : report.results) {
          if (result.verdict != Verdict::fail) continue;
          RC_FAIL(result.id + ": " + (result.failure ? result.failure->finding.message : ""));
        }
        RC_ASSERT(report.executed() > 500);
      },
      4);  // tests/nightly tries more
  INFO(wrong.value_or(""));
  CHECK_FALSE(wrong.has_value());
}

}  // namespace
}  // namespace rope
