#include "tools/vectors/recorder.hpp"

#include <catch2/catch.hpp>

#include "tests/conformance/requirements.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/vectors/export.hpp"

namespace rope {
namespace {

using vectors::DescribedCall;
using vectors::Recorder;

Case small_case(const char* requirement) {
  Case c;
  c.requirement = requirement;
  c.spec.head_dim = c.spec.rotary_dim = 8;
  c.seq = 6;
  c.start = 3;
  return c;
}

struct Recorded {
  std::vector<DescribedCall> calls;
  Finding finding;
};

Recorded recorded(const Case& c, Recorder::Answers answers, bool expected = false) {
  Oracles oracles;
  Recorder recorder(vectors::claims_of_files(), oracles, expected);
  Examiner examiner(recorder, oracles, nullptr);
  recorder.begin(small_case("ROT-01"), answers);
  Call forgotten = build_call(small_case("ROT-01"), oracles);
  recorder.apply(forgotten);
  recorder.begin(c, answers);
  const Finding finding = requirement_called(c.requirement).check(c, examiner);
  return {recorder.take(), finding};
}

TEST_CASE("recorder: it holds the calls of the last case, in their order") {
  const Recorded slices = recorded(small_case("POS-01"), Recorder::Answers::exact);
  CHECK(slices.finding.passed());
  REQUIRE(slices.calls.size() == 3);  // the whole, the last token, two in the middle
  CHECK(slices.calls[0].record.inputs.at(0).shape.at(1) == 6);
  CHECK(slices.calls[1].record.inputs.at(0).shape.at(1) == 1);
  CHECK(slices.calls[2].record.inputs.at(0).shape.at(1) == 2);
}

TEST_CASE("recorder: without answers the outputs stay unchanged") {
  CHECK(recorded(small_case("ROT-01"), Recorder::Answers::exact).finding.passed());
  CHECK(recorded(small_case("ROT-01"), Recorder::Answers::none).finding.kind == FailureKind::unwritten);
}

TEST_CASE("recorder: a later call that depends on an answer changes with the answer") {
  const auto digests = [](const char* requirement, Recorder::Answers answers) {
    std::vector<std::string> all;
    for (const DescribedCall& call : recorded(small_case(requirement), answers).calls)
      all.push_back(call.record.digest);
    return all;
  };
  CHECK(digests("ROT-06", Recorder::Answers::exact) == digests("ROT-06", Recorder::Answers::none));
  CHECK(digests("ROT-08", Recorder::Answers::exact).at(0) == digests("ROT-08", Recorder::Answers::none).at(0));
  CHECK(digests("ROT-08", Recorder::Answers::exact).at(1) != digests("ROT-08", Recorder::Answers::none).at(1));
}

TEST_CASE("recorder: expected values come with the call if they are asked for") {
  CHECK(recorded(small_case("ROT-01"), Recorder::Answers::exact).calls.at(0).record.expected.empty());
  Case c = small_case("ROT-01");
  c.key_heads = 1;
  const DescribedCall call = recorded(c, Recorder::Answers::exact, true).calls.at(0);
  std::vector<std::string> names;
  for (const vectors::Array& array : call.record.expected) names.push_back(array.name);
  CHECK(names == std::vector<std::string>{"q_out", "q_bound", "k_out", "k_bound"});
  CHECK(call.record.expected[2].shape == std::vector<std::int64_t>{1, 6, 1, 8});
  CHECK(call.contents.size() == call.record.inputs.size() + 4);
}

}  // namespace
}  // namespace rope
