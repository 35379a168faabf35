// RapidCheck properties, and the seed that they run from. main.cpp sets the seed before the first test; it is the same
// in every run. RC_PARAMS="seed=N" selects other cases or repeats the cases of a failure. That holds for rc::prop and
// for counterexample().
#pragma once

#include <rapidcheck.h>

#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

namespace rope::test {

// The shrunk counterexample of the property in words, and the seed; none if the property held `successes` times. Needs
// no Catch section, so several can stand in one loop, and a test can ask for a counterexample.
template <class Property>
std::optional<std::string> counterexample(Property&& property, int successes = 100) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = successes;
  const rc::detail::TestResult result =
      rc::detail::checkTestable(std::forward<Property>(property), rc::detail::TestMetadata(), params);
  if (result.template is<rc::detail::SuccessResult>()) return std::nullopt;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  text << "\nfrom RC_PARAMS=\"seed=" << params.seed << "\"\n";
  // Too few cases met the precondition, or a generator failed: neither says anything about the property.
  if (!result.template is<rc::detail::FailureResult>()) throw std::runtime_error(text.str());
  return text.str();
}

}  // namespace rope::test
