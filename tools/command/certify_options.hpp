// What is certified: the options that make the plan.
#pragma once

#include <string>
#include <vector>

#include "tools/certify/plan.hpp"
#include "tools/command/cli_fwd.hpp"
#include "tools/command/spec_options.hpp"

namespace rope {

class CertifyOptions {
 public:
  void add_to(CLI::App& command);

  certify::Plan plan_for(const Claims& claims) const;  // throws InputError

 private:
  SpecOptions spec_;
  std::vector<std::string> dtypes_;
  std::vector<std::string> sweeps_;
  std::string only_;
  std::string require_ = "C3";
  std::int64_t positions_ = std::int64_t{1} << 20;
};

}  // namespace rope
