#include "tools/command/report_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reference/input_error.hpp"
#include "tools/command/option_values.hpp"
#include "tools/report/write_file.hpp"

namespace rope {
namespace {

std::string option_of(const Format& format) { return fmt::format("--{}", format.name); }

void put(const std::string& file, const std::string& text) {
  if (file == "-") {
    fmt::print("{}", text);
  } else {
    write_file(file, text);
  }
}

}  // namespace

void ReportOptions::add_to(CLI::App& command) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const Format& format = formats()[i];
    command.add_option(option_of(format), files_[i], std::string(format.help))
        ->type_name(kinds::file)
        ->group("Reports (FILE; - is stdout, for one of them)");
  }
}

void ReportOptions::check() const {
  std::map<std::string, std::string> taken;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::string& file = files_[i];
    if (file.empty()) continue;
    const std::string option = option_of(formats()[i]);
    const auto [other, is_new] = taken.emplace(file, option);
    if (!is_new) {
      throw InputError(fmt::format("{} and {} both write to {}; give each a file of its own", other->second, option,
                                   file == "-" ? "stdout" : file));
    }
    if (file != "-") check_can_write(file);
  }
}

bool ReportOptions::on_stdout() const { return std::ranges::find(files_, "-") != files_.end(); }

void ReportOptions::write(const RunReport& run) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (!files_[i].empty()) put(files_[i], formats()[i].written(run));
  }
}

}  // namespace rope
