// Catch2 3 under the names of version 2, for the machines that have it.
#pragma once

#include <catch2/catch_all.hpp>

namespace Catch {

using TestEventListenerBase = EventListenerBase;
using Matchers::EndsWith;
using Matchers::StartsWith;

inline Matchers::StringContainsMatcher Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }

}  // namespace Catch

using Catch::Approx;
