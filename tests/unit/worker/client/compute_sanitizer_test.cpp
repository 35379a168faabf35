// The findings of NVIDIA's compute-sanitizer, and kernels run under a fake one, on a fake device.
#include "tools/worker/client/compute_sanitizer.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/worker/on_device.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope {
namespace {

using Catch::Contains;
using worker::read_sanitizer_log;

const std::filesystem::path fake_sanitizer = source_folder() / "tests/unit/worker/client/fake_compute_sanitizer.py";

SuiteOptions mem_07_at(Level level) {
  SuiteOptions how;
  how.selection.level = level;
  how.selection.only = {"MEM-07"};
  how.selection.dtypes = {DType::f32};
  return how;
}

SubjectReport judged(const char* kernel, const SuiteOptions& how, const std::filesystem::path& sanitizer) {
  WorkerOptions options;
  options.compute_sanitizer = sanitizer;
  const auto subject = on_device(kernel, options);
  Oracles oracles;
  return run_suite(*subject, oracles, all_requirements(), how);
}

RequirementResult mem_07(const char* kernel, Level level, const std::filesystem::path& sanitizer = fake_sanitizer) {
  const SubjectReport report = judged(kernel, mem_07_at(level), sanitizer);
  CHECK(report.ended_by == "");
  return report.results.at(0);
}

TEST_CASE("compute-sanitizer: a log without findings is clean", "[sanitizer]") {
  CHECK(read_sanitizer_log(SanitizerTool::memcheck, "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n")
            .is_clean());
  CHECK(read_sanitizer_log(SanitizerTool::racecheck,
                           "========= COMPUTE-SANITIZER\n"
                           "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n")
            .is_clean());
}

TEST_CASE("compute-sanitizer: the first finding is reported, without the stack of the host", "[sanitizer]") {
  const SanitizerReport found =
      read_sanitizer_log(SanitizerTool::memcheck,
                         "========= COMPUTE-SANITIZER\n"
                         "========= Invalid __global__ write of size 4 bytes\n"
                         "=========     at unaligned_kernel()+0x50\n"
                         "=========     by thread (0,0,0) in block (0,0,0)\n"
                         "=========     Address 0x710fdca00001 is misaligned\n"
                         "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
                         "=========         Host Frame: main [0xae61] in memcheck_demo\n"
                         "=========\n"
                         "========= Invalid __global__ write of size 4 bytes\n"
                         "=========     at out_of_bounds_kernel()+0x90\n"
                         "=========\n"
                         "========= ERROR SUMMARY: 2 errors\n");
  CHECK(found.decided);
  CHECK(found.words ==
        "compute-sanitizer's memcheck reports: Invalid __global__ write of size 4 bytes\n"
        "    at unaligned_kernel()+0x50\n"
        "    by thread (0,0,0) in block (0,0,0)\n"
        "    Address 0x710fdca00001 is misaligned\n"
        "(2 errors in all)");
  const SanitizerReport race =
      read_sanitizer_log(SanitizerTool::racecheck,
                         "========= COMPUTE-SANITIZER\n"
                         "========= Error: Race reported between Write access at sum(int *)+0x90\n"
                         "=========     and Read access at sum(int *)+0x100 [508 hazards]\n"
                         "=========\n"
                         "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n");
  CHECK(race.decided);
  CHECK_THAT(race.words, Contains("racecheck reports: Error: Race reported between Write access"));
}

TEST_CASE("compute-sanitizer: without a summary, or without a look at the kernel, there is no verdict", "[sanitizer]") {
  for (const char* log :
       {"", "========= COMPUTE-SANITIZER\n========= Error: No attachable process found. compute-sanitizer timed-out.\n",
        "========= COMPUTE-SANITIZER\n"
        "========= Target application terminated before first instrumented API call\n"
        "========= ERROR SUMMARY: 0 errors\n",
        "========= COMPUTE-SANITIZER\n"
        "========= Error: Failed to initialize WDDM debugger interface\n"
        "=========\n"
        "========= Error: Device not supported. Please refer to the documentation\n"
        "=========\n"
        "========= ERROR SUMMARY: 2 errors\n",
        "========= COMPUTE-SANITIZER\n"
        "========= Warning: Detected overflow of tracked cuda::barrier structures. Results might be incorrect.\n"
        "========= Barrier error detected. Divergent thread(s) in warp\n"
        "=========\n"
        "========= ERROR SUMMARY: 1 error\n",
        // Written by the tool itself, and counted.
        "========= COMPUTE-SANITIZER\n"
        "========= Error: process didn't terminate successfully\n"
        "========= ERROR SUMMARY: 1 error\n",
        "========= COMPUTE-SANITIZER\n"
        "========= Internal Sanitizer Error: The Sanitizer encountered an error while launching rotate\n"
        "========= ERROR SUMMARY: 0 errors\n"}) {
    INFO(log);
    const SanitizerReport report = read_sanitizer_log(SanitizerTool::memcheck, log);
    CHECK_FALSE(report.decided);
    CHECK_THAT(report.words, Contains("compute-sanitizer's memcheck says nothing of this kernel"));
  }
}

TEST_CASE("compute-sanitizer: a right kernel passes under every tool", "[sanitizer]") {
  const RequirementResult result = mem_07("right", Level::full);
  CHECK(result.verdict == Verdict::pass);
  CHECK(result.cases % 4 == 0);  // as many under each tool
  CHECK(result.cases > 100);
  CHECK(result.undecided == "");
}

TEST_CASE("compute-sanitizer: a read one element past a tensor is found, which no other check sees", "[sanitizer]") {
  const RequirementResult result = mem_07("reading_beyond", Level::quick);
  REQUIRE(result.failure);
  CHECK(result.failure->finding.kind == FailureKind::misbehaviour);
  CHECK_THAT(result.failure->finding.message,
             Contains("compute-sanitizer's memcheck reports: Invalid __global__ read of size 4 bytes\n") &&
                 !Contains("Host Frame"));
  CHECK(result.failure->minimal.tool == SanitizerTool::memcheck);
  const auto subject = on_device("reading_beyond");
  Call call = small_call();
  CHECK(subject->apply(call).detail == "");
}

TEST_CASE("compute-sanitizer: reading an output before it is written is found, reading an input is not",
          "[sanitizer]") {
  CHECK(mem_07("reading_output", Level::quick).verdict == Verdict::pass);
  const RequirementResult result = mem_07("reading_output", Level::full);
  REQUIRE(result.failure);
  CHECK_THAT(result.failure->finding.message, Contains("initcheck reports: Uninitialized __global__ memory read"));
  CHECK_FALSE(result.failure->minimal.in_place);
}

TEST_CASE("compute-sanitizer: a kernel that refuses its calls gets no verdict", "[sanitizer]") {
  const RequirementResult result = mem_07("failing", Level::quick);
  CHECK(result.verdict == Verdict::no_case);
  CHECK_THAT(result.undecided, Contains("under it the kernel answered failed: cudaLaunchKernel: out of patience"));
}

TEST_CASE("compute-sanitizer: a race is found at level full", "[sanitizer]") {
  CHECK(mem_07("racing", Level::quick).verdict == Verdict::pass);
  const RequirementResult result = mem_07("racing", Level::full);
  REQUIRE(result.failure);
  CHECK(result.failure->minimal.tool == SanitizerTool::racecheck);
}

TEST_CASE("compute-sanitizer: a finding of no single call is a finding of all calls together", "[sanitizer]") {
  const RequirementResult result = mem_07("racing_later", Level::full);
  CHECK(result.failed == 1);
  REQUIRE(result.failure);
  CHECK(result.failure->needs_earlier_calls);
  CHECK_THAT(result.failure->finding.message, Contains("Race reported") && Contains("neither half of them shows it)"));
}

TEST_CASE("compute-sanitizer: an interrupted run starts no further tool", "[sanitizer]") {
  const std::filesystem::path started = build_folder() / "sanitizer_tools_started.txt";
  std::filesystem::remove(started);
  const Environment recorded("FAKE_SANITIZER_STARTED", started.string());
  SuiteOptions how = mem_07_at(Level::full);
  Stop stop;
  how.stop = &stop;
  how.before_case = [&](const Case&) { stop.request(); };
  CHECK(judged("right", how, fake_sanitizer).interrupted);
  std::ifstream file(started);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "memcheck\n");
}

TEST_CASE("compute-sanitizer: if it is missing, or cannot start a worker, there is no verdict", "[sanitizer]") {
  const RequirementResult none = mem_07("right", Level::quick, {});
  CHECK(none.verdict == Verdict::no_case);
  CHECK_THAT(none.undecided, Contains("not in PATH"));
  const Environment broken("FAKE_SANITIZER_BROKEN", "1");
  const RequirementResult result = mem_07("reading_beyond", Level::quick);
  CHECK(result.verdict == Verdict::no_case);
  CHECK(result.cases == 0);
  CHECK_THAT(result.undecided, Contains("Target application terminated before first instrumented API call"));
}

}  // namespace
}  // namespace rope
