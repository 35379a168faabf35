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

  // Before the run, because nobody should wait for a report that cannot be written. Throws InputError.
  void check() const;

  // One of them is; the text for a person then goes to stderr.
  bool on_stdout() const;

  void write(const RunReport& run) const;

 private:
  std::vector<std::string> files_ = std::vector<std::string>(formats().size());  // one a format; empty: not asked for
};

}  // namespace rope
