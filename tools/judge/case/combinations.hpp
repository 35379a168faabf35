// Combinations: which kinds of the traits of cases (trait.hpp) have met so far. A bug in one line needs two or three
// kinds at once, rarely more (Kuhn, Wallace, Gallo: Software Fault Interactions, 2004). Random cases by themselves
// leave many pairs out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/judge/case/case.hpp"

namespace rope {

class Combinations {
 public:
  // `strength`: how many traits are combined, 2 or 3.
  explicit Combinations(int strength);

  std::size_t fresh(const Case& c) const;  // combinations that no earlier case had
  void add(const Case& c);

 private:
  template <class Visit>
  void for_each(const Case& c, Visit visit) const;

  int strength_;
  std::size_t kinds_;  // of all traits
  std::vector<char> seen_;
};

}  // namespace rope
