// RapidCheck properties without a Catch section: several in one loop, or one that must have a counterexample.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

namespace rope::test {

// The same numbers every time; ROPECHECK_PROPERTY_SEED=1, 2, .. asks for others.
inline std::uint64_t property_seed() {
  const char* more = std::getenv("ROPECHECK_PROPERTY_SEED");
  return 20260101 + (more != nullptr ? std::strtoull(more, nullptr, 10) : 0);
}

// What refutes the property, shrunk and in words; none where it held `successes` times.
template <class Property>
std::optional<std::string> counterexample(Property&& property, int successes = 100) {
  rc::detail::TestParams params;
  params.seed = property_seed();
  params.maxSuccess = successes;
  const rc::detail::TestResult result =
      rc::detail::checkTestable(std::forward<Property>(property), rc::detail::TestMetadata(), params);
  if (result.template is<rc::detail::SuccessResult>()) return std::nullopt;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  // Too few cases met the precondition, or a generator failed: that says nothing about the property.
  if (!result.template is<rc::detail::FailureResult>()) throw std::runtime_error(text.str());
  return text.str();
}

}  // namespace rope::test
