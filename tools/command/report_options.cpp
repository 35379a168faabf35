#include "tools/command/report_options.hpp"

namespace rope {

std::vector<ReportFiles::Option> ReportOptions::options() {
  std::vector<ReportFiles::Option> options;
  for (const Format& format : formats()) options.push_back({format.name, format.help});
  return options;
}

void ReportOptions::write(const RunReport& run) const {
  for (std::size_t i = 0; i < files_.count(); ++i) {
    if (files_.wants(i)) files_.write(i, formats()[i].written(run));
  }
}

}  // namespace rope
