#include "tools/vectors/answers.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tests/unit/vectors/small_export.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using vectors::Vectors;

// half_split's answers to a small export.
class Answered {
 public:
  explicit Answered(std::vector<std::string> only) {
    Oracles oracles;
    vectors::export_vectors(folder_ / "new", oracles, test::small_options(std::move(only)));
    vectors = vectors::read_vectors(folder_ / "new");
    test::answer(vectors);
  }

  SubjectReport judged() const {
    std::vector<Case> cases;
    for (const vectors::CaseRecord& record : vectors.cases) cases.push_back(record.c);
    vectors::Answers subject(vectors, "vectors:new");
    SuiteOptions options;
    options.selection = vectors.selection;
    options.cases = &cases;
    options.before_case = [&](const Case& c) { subject.begin(c); };
    Oracles oracles;
    return run_suite(subject, oracles, all_requirements(), options);
  }

  // The file with the answer to a call of the first case.
  fs::path response(std::size_t call = 0) const {
    return vectors.folder / vectors.cases.at(0).calls.at(call).outputs.at(0).file;
  }

  Vectors vectors;

 private:
  TemporaryFolder folder_;
};

TEST_CASE("answers: right responses get the same verdicts as the kernel that made them") {
  const Answered answered({"ROT-01", "ROT-06", "REL-01", "POS", "DET-01", "DET-02", "STA-01"});
  const SubjectReport report = answered.judged();
  CHECK(report.conforms());
  CHECK(report.executed() == static_cast<std::int64_t>(answered.vectors.cases.size()));
  CHECK(report.calls == answered.vectors.calls());
  CHECK(report.horizons.empty());
  const Responses responses = vectors::look_at_responses(answered.vectors);
  CHECK(responses.asked_for > answered.vectors.calls());  // some have k_out too
  CHECK(responses.missing.empty());
  CHECK(responses.malformed.empty());
}

TEST_CASE("answers: missing, malformed and wrong responses are told apart") {
  const auto after = [](const auto& change) {
    const Answered answered({"ROT-01"});
    change(answered.response());
    const SubjectReport report = answered.judged();
    const Responses responses = vectors::look_at_responses(answered.vectors);
    REQUIRE(report.results.at(0).failure);
    CHECK(report.results.at(0).failed == 1);
    CHECK(report.results.at(0).verdict == Verdict::fail);
    const Finding& finding = report.results.at(0).failure->finding;
    CHECK(responses.missing.size() == (finding.kind == FailureKind::missing ? 1 : 0));
    CHECK(responses.malformed.size() == (finding.kind == FailureKind::malformed ? 1 : 0));
    return finding;
  };
  const Finding missing = after([](const fs::path& file) { fs::remove(file); });
  CHECK(missing.kind == FailureKind::missing);
  CHECK_THAT(missing.message, Contains("q_out.npy is missing"));

  const auto malformed = [&](const auto& change, const std::string& words) {
    const Finding finding = after(change);
    CHECK(finding.kind == FailureKind::malformed);
    CHECK_THAT(finding.message, Contains(".q_out.npy: ") && Contains(words));
  };
  malformed([](const fs::path& file) { fs::resize_file(file, fs::file_size(file) - 3); }, "it is truncated");
  malformed([](const fs::path& file) { std::ofstream(file) << "no array"; }, "byte 0: expected");
  malformed([](const fs::path& file) { fs::remove(file), fs::create_directory(file); }, "not a regular file");
  malformed(
      [](const fs::path& file) {
        NpyArray array = read_npy(file);
        array.shape.push_back(1);
        write_npy(file, array);
      },
      "its shape is (");
  malformed(
      [](const fs::path& file) {
        NpyArray array = read_npy(file);
        array.type = NpyType::i4;
        write_npy(file, array);
      },
      "its dtype is \"<i4\"; manifest.json asks for \"<f4\", f32");

  const Finding wrong = after([](const fs::path& file) {
    NpyArray array = read_npy(file);
    array.bytes[3] ^= std::byte{0x80};  // the sign of the first element
    write_npy(file, array);
  });
  CHECK(wrong.kind == FailureKind::value);
}

TEST_CASE("answers: each repetition of a call is answered by its own file") {
  const Answered answered({"DET-01"});
  NpyArray array = read_npy(answered.response(2));
  array.bytes[0] ^= std::byte{1};
  write_npy(answered.response(2), array);
  const SubjectReport report = answered.judged();
  REQUIRE(report.results.at(0).failure);
  CHECK(report.results.at(0).failure->finding.kind == FailureKind::repetition);
}

TEST_CASE("answers: a failure is not shrunk, because smaller calls have no answers") {
  const Answered answered({"ROT-01"});
  NpyArray array = read_npy(answered.response());
  std::fill(array.bytes.begin(), array.bytes.end(), std::byte{});
  write_npy(answered.response(), array);
  const SubjectReport report = answered.judged();
  REQUIRE(report.results.at(0).failure);
  CHECK(to_text(report.results.at(0).failure->minimal) == to_text(answered.vectors.cases.at(0).c));
}

TEST_CASE("answers: calls that this build makes differently are refused, not judged") {
  const auto error_after = [](const auto& change) {
    Answered answered({"POS-01"});
    change(answered.vectors);
    try {
      answered.judged();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(error_after([](Vectors&) {}).empty());
  CHECK_THAT(error_after([](Vectors& v) { v.cases[0].calls[1].digest[0] ^= 1; }),
             Contains("does not make the calls of the case POS-01:") && Contains("0.0.0") &&
                 Contains("call POS-01.0001.2 has other arrays") && Contains("export again"));
  CHECK_THAT(error_after([](Vectors& v) { v.cases[0].calls.pop_back(); }), Contains("it makes one more"));
}

TEST_CASE("answers: a case that was not exported is refused") {
  const Answered answered({"ROT-02"});
  vectors::Answers subject(answered.vectors, "vectors:new");
  Case other = answered.vectors.cases.at(0).c;
  other.seed += 1;
  CHECK_THROWS_WITH(subject.begin(other), Contains("is not among those that were exported"));
}

}  // namespace
}  // namespace rope
