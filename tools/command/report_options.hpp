// --json, --junit and --markdown: where verify writes its reports.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/report/words.hpp"

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
  std::string json_;
  std::string junit_;
  std::string markdown_;
};

}  // namespace rope
