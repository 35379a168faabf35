// A kernel that answers ROPE_UNSUPPORTED to claimed calls claims too much. That is one mistake, however many
// requirements it fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/judge/call/claims.hpp"
#include "tools/judge/case/case.hpp"
#include "tools/judge/verdict/finding.hpp"

namespace rope {

struct UnsupportedCalls {
  std::vector<std::string> claims{};        // "in place": without these, no such call is claimed. Empty: unknown
  std::vector<std::string> requirements{};  // ids of those that do not hold by nothing else, notes too
  std::int64_t cases = 0;
  bool are_all = false;   // of the cases that were run
  std::string example{};  // such a case, as text
  std::string message{};  // the kernel's words about it
};

// Which cases a kernel supports.
class SupportSeen {
 public:
  // Of a case that was run. `decides`: the verdict depends on it. Returns whether its call, a right one, got the answer
  // ROPE_UNSUPPORTED.
  bool note(const Case& c, const Finding& finding, bool decides);
  // Of a requirement, and in how many cases it failed.
  void add(const std::string& requirement, std::int64_t failed, const SupportSeen& other);
  std::int64_t unsupported() const { return cases_; }
  // nullopt if all were supported that decide.
  std::optional<UnsupportedCalls> of(const Claims& claims) const;

 private:
  std::vector<Case> unsupported_, supported_;
  std::vector<std::string> requirements_;
  std::string message_;  // of the first one
  std::int64_t cases_ = 0;
  bool decides_ = false;  // one of these cases does
};

}  // namespace rope
