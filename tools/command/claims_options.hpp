// What a program that works on files claims: everything that files can carry, or less.
#pragma once

#include <string>
#include <vector>

#include "tools/command/cli_fwd.hpp"
#include "tools/judge/case/case_list.hpp"

namespace rope {

class ClaimsOptions {
 public:
  void add_to(CLI::App& command);

  // Narrowed to what is selected. Throws InputError.
  Claims claims(const Selection& selection) const;

 private:
  std::string file_;
  std::vector<std::string> sources_;
  std::vector<std::string> tables_;
  std::vector<std::string> features_;
  std::optional<std::int64_t> max_position_;
};

}  // namespace rope
