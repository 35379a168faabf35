#include "tools/judge/case/trait.hpp"

#include <algorithm>

namespace rope::trait {

Trait whether(const Holds& holds) {
  return {2, [=](const Case& c) { return holds(c) ? std::size_t{1} : 0; }};
}

Trait first_that(const std::vector<Holds>& all) {
  return {all.size() + 1, [=](const Case& c) {
            const auto found = std::find_if(all.begin(), all.end(), [&](const Holds& holds) { return holds(c); });
            return static_cast<std::size_t>(found - all.begin());
          }};
}

Trait sized(const std::function<std::int64_t(const Case&)>& number, const std::vector<std::int64_t>& limits) {
  return {limits.size() + 1, [=](const Case& c) {
            const auto limit = std::lower_bound(limits.begin(), limits.end(), number(c));
            return static_cast<std::size_t>(limit - limits.begin());
          }};
}

Trait both(const Trait& one, const Trait& other) {
  return {one.kinds * other.kinds, [=](const Case& c) { return one.kind_of(c) * other.kinds + other.kind_of(c); }};
}

Trait either(const Holds& holds, const Trait& one, const Trait& other) {
  return {one.kinds + other.kinds,
          [=](const Case& c) { return holds(c) ? one.kind_of(c) : one.kinds + other.kind_of(c); }};
}

}  // namespace rope::trait
