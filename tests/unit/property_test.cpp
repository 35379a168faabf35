// A failed property can be run again: it prints its seed, and RC_PARAMS takes it.
#include "tests/unit/property.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "tests/unit/command/program.hpp"

namespace rope {
namespace {

constexpr const char* request = "ROPECHECK_FAILING_PROPERTY=1";

// Holds unless a failure is requested: a run of "~command:*" has these tests in it, too. The numbers are large from the
// first case on and not shrunk, so that each seed has its own counterexample.
void no_number_is_divisible_by_seven() {
  const auto any = rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 53);
  const auto number = *rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, any));
  RC_ASSERT((std::getenv("ROPECHECK_FAILING_PROPERTY") == nullptr || number % 7 != 0));
}

// The tests that the next test starts.
TEST_CASE("fails through rc::prop", "[.][failing property]") {
  rc::prop("no number is divisible by seven", no_number_is_divisible_by_seven);
}

TEST_CASE("fails through counterexample()", "[.][failing property]") {
  const auto found = test::counterexample(no_number_is_divisible_by_seven);
  INFO(found.value_or(""));
  CHECK_FALSE(found.has_value());
}

Result run_this_test(const std::string& name, const std::string& parameters) {
  const std::string here = std::filesystem::read_symlink("/proc/self/exe").string();
  return run_program({here, name}, {request, "RC_PARAMS=" + parameters});
}

// The seed in the line that says how to repeat the test.
std::string seed_in(const std::string& text) {
  const std::string before = "RC_PARAMS=\"";
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return "none";
  const std::size_t from = at + before.size();
  return text.substr(from, text.find('"', from) - from);
}

TEST_CASE("a failing property prints its seed, and RC_PARAMS replays it") {
  for (const std::string name : {"fails through rc::prop", "fails through counterexample()"}) {
    INFO(name);
    const Result plain = run_this_test(name, "");
    CHECK(plain.exit_code != 0);
    CHECK_THAT(plain.out, Catch::Contains("Falsifiable"));
    CHECK_THAT(plain.err, Catch::Contains("Using configuration: seed=20260101"));
    CHECK(seed_in(plain.err) == "seed=20260101");
    CHECK(run_this_test(name, seed_in(plain.err)).out == plain.out);

    const Result other = run_this_test(name, "seed=7");
    CHECK(other.exit_code != 0);
    CHECK(other.out != plain.out);
    CHECK(seed_in(other.err) == "seed=7");
    CHECK(run_this_test(name, seed_in(other.err)).out == other.out);
  }
}

TEST_CASE("RC_PARAMS without a seed keeps the default one") {
  const Result result = run_this_test("fails through rc::prop", "max_success=1000");
  CHECK(result.exit_code != 0);
  CHECK(seed_in(result.err) == "seed=20260101 max_success=1000");
}

}  // namespace
}  // namespace rope
