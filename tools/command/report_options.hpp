// An option for each format of tools/report/formats.hpp: where verify writes its reports.
#pragma once

#include "tools/command/report_files.hpp"
#include "tools/report/formats.hpp"

namespace rope {

class ReportOptions {
 public:
  void add_to(CLI::App& command) { files_.add_to(command); }
  void check() const { files_.check(); }
  bool on_stdout() const { return files_.on_stdout(); }
  std::vector<std::filesystem::path> folders() const { return files_.folders(); }
  void write(const RunReport& run) const;

 private:
  static std::vector<ReportFiles::Option> options();

  ReportFiles files_{options()};
};

}  // namespace rope
