// Options that name the files of reports, one for each format: what a command with several formats has in common.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command/cli_fwd.hpp"

namespace rope {

class ReportFiles {
 public:
  struct Option {
    std::string_view name;  // the option is --name
    std::string_view help;
  };

  explicit ReportFiles(std::vector<Option> options) : options_(std::move(options)), files_(options_.size()) {}

  void add_to(CLI::App& command);

  // Call it before the run: nobody should wait for a report that cannot be written. Throws InputError.
  void check() const;

  // Whether a report goes to stdout; the text for a person then goes to stderr.
  bool on_stdout() const;

  // That the files lie in.
  std::vector<std::filesystem::path> folders() const;

  std::size_t count() const { return files_.size(); }
  bool wants(std::size_t i) const { return !files_[i].empty(); }
  // Tells the digest of the file on stderr: who changes the file later cannot change what was printed.
  void write(std::size_t i, const std::string& text) const;

 private:
  std::vector<Option> options_;
  std::vector<std::string> files_;  // one an option; empty: not wanted
};

// --json and --html of a command whose page is made from its JSON.
class JsonAndHtml {
 public:
  explicit JsonAndHtml(std::string_view json_help)
      : files_({{"json", json_help}, {"html", "the same as a page for a browser, in one file"}}) {}

  void add_to(CLI::App& command) { files_.add_to(command); }
  void check() const { files_.check(); }
  bool on_stdout() const { return files_.on_stdout(); }
  std::vector<std::filesystem::path> folders() const { return files_.folders(); }
  bool wanted() const { return files_.wants(0) || files_.wants(1); }
  void write(const std::string& json) const;

 private:
  ReportFiles files_;
};

}  // namespace rope
