// Trait: a property in which cases differ. Each case has one of a few kinds of it; combinations.hpp combines the kinds
// of one trait with the kinds of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "tools/judge/case/case_words.hpp"

namespace rope {

struct Trait {
  std::size_t kinds;
  std::function<std::size_t(const Case&)> kind_of;  // below `kinds`
};

namespace trait {

using Holds = std::function<bool(const Case&)>;

Trait whether(const Holds& holds);

// The kind is the first of them that holds; the last kind means that none does.
Trait first_that(const std::vector<Holds>& all);

// The kind is the interval of a number between the limits. Each limit belongs to the kind that it ends.
Trait sized(const std::function<std::int64_t(const Case&)>& number, const std::vector<std::int64_t>& limits);

Trait both(const Trait& one, const Trait& other);

// The kinds of `one` for cases for which `holds` is true, else the kinds of `other`.
Trait either(const Holds& holds, const Trait& one, const Trait& other);

// The kind is the field's value, one of `values`. `access`: a pointer to a member, or a function that gives the
// field of a case.
template <class Access, class Value>
Trait among(Access access, const std::vector<Value>& values) {
  return {values.size(), [=](const Case& c) {
            std::size_t kind = 0;
            while (values.at(kind) != std::invoke(access, c)) ++kind;
            return kind;
          }};
}

// The kind is the field's word, one of all its words.
template <class Access>
Trait which(Access access) {
  using Enum = std::remove_cvref_t<std::invoke_result_t<Access, const Case&>>;
  std::vector<Enum> values;
  for (const Word<Enum>& known : words_of<Enum>()) values.push_back(known.value);
  return among(access, values);
}

}  // namespace trait
}  // namespace rope
