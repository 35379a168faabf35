// --expected-failures and --write-expected-failures: the list that a run is held against, and the one that it leaves.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "tools/command/cli_fwd.hpp"
#include "tools/report/expected_failures.hpp"

namespace rope {

class ExpectedFailuresOptions {
 public:
  void add_to(CLI::App& command);

  // The list; empty without one. Call it before the run: it also checks that the new list can be written. Throws
  // InputError.
  ExpectedFailures list(bool fail_fast) const;

  // The list that the run leaves, if it was asked for and the run is complete; says so in `text`.
  void write(const ExpectedFailures& list, const RunReport& run, std::FILE* text) const;

 private:
  std::string read_;
  std::string written_;
};

}  // namespace rope
