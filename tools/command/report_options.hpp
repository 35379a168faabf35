// An option for each format of tools/report/formats.hpp: where verify writes its reports.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/report/formats.hpp"

namespace rope {

class ReportOptions {
 public:
  void add_to(CLI::App& command);

  // Call it before the run: nobody should wait for a report that cannot be written. Throws InputError.
  void check() const;

  // Whether a report goes to stdout; the text for a person then goes to stderr.
  bool on_stdout() const;

  void write(const RunReport& run) const;

 private:
  std::vector<std::string> files_ = std::vector<std::string>(formats().size());  // one a format; empty: not wanted
};

}  // namespace rope
