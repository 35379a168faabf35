#include "tools/command/report_files.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <span>

#include "golden/sha256.hpp"
#include "reference/input_error.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/print_text.hpp"
#include "tools/report/html/page.hpp"
#include "tools/report/write_file.hpp"

namespace rope {
namespace {

std::string option_of(const ReportFiles::Option& option) { return fmt::format("--{}", option.name); }

}  // namespace

void ReportFiles::add_to(CLI::App& command) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    command.add_option(option_of(options_[i]), files_[i], std::string(options_[i].help))
        ->type_name(kinds::file)
        ->group("Reports (FILE; - is stdout, for one of them)");
  }
}

void ReportFiles::check() const {
  std::map<std::string, std::string> taken;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::string& file = files_[i];
    if (file.empty()) continue;
    const std::string option = option_of(options_[i]);
    const auto [other, is_new] = taken.emplace(file, option);
    if (!is_new) {
      throw InputError(fmt::format("{} and {} both write to {}; give each a file of its own", other->second, option,
                                   file == "-" ? "stdout" : file));
    }
    if (file != "-") check_can_write(file);
  }
}

bool ReportFiles::on_stdout() const { return std::ranges::find(files_, "-") != files_.end(); }

std::vector<std::filesystem::path> ReportFiles::folders() const {
  std::vector<std::filesystem::path> folders;
  for (const std::string& file : files_) {
    if (!file.empty() && file != "-") folders.push_back(std::filesystem::absolute(file).parent_path());
  }
  return folders;
}

void ReportFiles::write(std::size_t i, const std::string& text) const {
  if (files_[i] == "-") {
    print_data(text);
  } else if (!files_[i].empty()) {
    write_file(files_[i], text);
    std::fflush(stdout);  // what was printed before comes first
    print_text(stderr, "{}: sha256 {}\n", files_[i], sha256(std::as_bytes(std::span(text))));
  }
}

void JsonAndHtml::write(const std::string& json) const {
  files_.write(0, json);
  if (files_.wants(1)) files_.write(1, html::page_of(json));
}

}  // namespace rope
