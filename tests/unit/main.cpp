// Catch's main, and the seed of the properties (property.hpp).
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <string>
#include <type_traits>

namespace {

// A pointer since Catch2 3.
template <class Stats>
const Catch::TestCaseInfo& info_of(const Stats& stats) {
  if constexpr (std::is_pointer_v<decltype(stats.testInfo)>) {
    return *stats.testInfo;
  } else {
    return stats.testInfo;
  }
}

constexpr const char* default_seed = "seed=20260101";

// RapidCheck reads RC_PARAMS at the first property. Without a seed there it would take a random one.
class PropertySeed : public Catch::TestEventListenerBase {
 public:
  using Catch::TestEventListenerBase::TestEventListenerBase;

  void testRunStarting(const Catch::TestRunInfo& info) override {
    Catch::TestEventListenerBase::testRunStarting(info);
    const char* given = std::getenv("RC_PARAMS");
    parameters_ = given != nullptr ? given : "";
    if (parameters_.find("seed=") == std::string::npos) {
      parameters_ = parameters_.empty() ? default_seed : default_seed + (" " + parameters_);
    }
    setenv("RC_PARAMS", parameters_.c_str(), 1);
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    Catch::TestEventListenerBase::testCaseEnded(stats);
    if (stats.totals.testCases.failed == 0) return;
    std::cerr << "to repeat it with the same random cases: RC_PARAMS=\"" << parameters_ << "\" unit_tests \""
              << info_of(stats).name << "\"\n";
  }

 private:
  std::string parameters_;
};

CATCH_REGISTER_LISTENER(PropertySeed)

}  // namespace
