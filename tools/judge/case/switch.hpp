// Switch: one thing that a case may have, what the diagnosis calls it, and the case without it. A kernel that fails
// with it and not without fails because of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tools/judge/case/case.hpp"

namespace rope {

struct Switch {
  std::function<bool(const Case&)> on;
  std::function<std::string(const Case&)> words;  // where it is on
  std::function<void(Case&)> off;
};

namespace switched {

using Words = std::function<std::string(const Case&)>;

inline Words always(std::string_view words) {
  return [=](const Case&) { return std::string(words); };
}

// On where a field does not hold its default. `access`: a pointer to a member, or a function that gives the field.
template <class Access>
Switch off_default(Access access, Words words) {
  return {[=, plain = Case{}](const Case& c) { return std::invoke(access, c) != std::invoke(access, plain); },
          std::move(words), [=, plain = Case{}](Case& c) { std::invoke(access, c) = std::invoke(access, plain); }};
}

}  // namespace switched
}  // namespace rope
