#include "tools/command/report_options.hpp"

#include <fmt/format.h>

#include <map>

#include "reference/input_error.hpp"
#include "tools/report/json.hpp"
#include "tools/report/junit.hpp"
#include "tools/report/markdown.hpp"
#include "tools/report/write_file.hpp"

namespace rope {
namespace {

void put(const std::string& file, const std::string& text) {
  if (file == "-") {
    fmt::print("{}", text);
  } else {
    write_file(file, text);
  }
}

}  // namespace

void ReportOptions::add_to(CLI::App& command) {
  const char* group = "Reports (FILE; - is stdout, for one of them)";
  command.add_option("--json", json_, "all that is known; tools/report/report.schema.json")->group(group);
  command.add_option("--junit", junit_, "JUnit XML, as CI systems read it")->group(group);
  command.add_option("--markdown", markdown_, "a page, such as GitHub's step summary")->group(group);
}

void ReportOptions::check() const {
  std::map<std::string, std::string> taken;
  for (const auto& [option, file] : {std::pair("--json", json_), {"--junit", junit_}, {"--markdown", markdown_}}) {
    if (file.empty()) continue;
    const auto [other, is_new] = taken.emplace(file, option);
    if (!is_new) {
      throw InputError(fmt::format("{} and {} both write to {}; give each a file of its own", other->second, option,
                                   file == "-" ? "stdout" : file));
    }
    if (file != "-") check_can_write(file);
  }
}

bool ReportOptions::on_stdout() const { return json_ == "-" || junit_ == "-" || markdown_ == "-"; }

void ReportOptions::write(const RunReport& run) const {
  if (!json_.empty()) put(json_, json_report(run));
  if (!junit_.empty()) put(junit_, junit_report(run));
  if (!markdown_.empty()) put(markdown_, markdown_report(run));
}

}  // namespace rope
