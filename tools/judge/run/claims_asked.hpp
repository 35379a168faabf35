// Which claims of a kernel a run asked something of.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "tools/judge/call/claims.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// Claims of one kind, in words: "dtypes", "features".
struct ClaimsAsked {
  std::string kind;
  std::vector<std::string> asked;
  std::vector<std::string> not_asked;    // claimed, but no case needed it
  std::vector<std::string> not_claimed;  // so no case may need it
};

class ClaimsSeen {
 public:
  void add(std::span<const Case> executed);
  void add(const ClaimsSeen& other);
  std::vector<ClaimsAsked> of(const Claims& claims) const;

 private:
  unsigned dtypes_ = 0, sources_ = 0, pairings_ = 0, rules_ = 0, features_ = 0;  // masks
  std::set<int> head_dims_;
};

}  // namespace rope
