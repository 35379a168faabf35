#include "tools/command/report_options.hpp"

#include <exception>

namespace rope {

std::vector<ReportFiles::Option> ReportOptions::options() {
  std::vector<ReportFiles::Option> options;
  for (const Format& format : formats()) options.push_back({format.name, format.help});
  return options;
}

void ReportOptions::write(const RunReport& run) const {
  // One that cannot be written must not cost the others.
  std::exception_ptr first;
  for (std::size_t i = 0; i < files_.count(); ++i) {
    try {
      if (files_.wants(i)) files_.write(i, formats()[i].written(run));
    } catch (const std::exception&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace rope
