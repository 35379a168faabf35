#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/command/commands.hpp"
#include "tools/command/print_text.hpp"
#include "tools/command/report_files.hpp"
#include "tools/report/html/page.hpp"
#include "tools/report/read_file.hpp"

namespace rope {

Action add_report(CLI::App& app) {
  struct Options {
    std::string file;
    ReportFiles out{{{"html", "the page for a browser, in one file; default: stdout"}}};
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "Make the HTML page of a JSON report that was written earlier");
  command->add_option("file", options->file, "what --json wrote; - is stdin")->type_name("FILE")->required();
  options->out.add_to(*command);
  return [options, command]() -> int {
    if (!command->parsed()) return -1;
    options->out.check();
    const std::string page = html::page_of(read_file(options->file), options->file);
    if (options->out.wants(0)) {
      options->out.write(0, page);
    } else {
      print_data(page);
    }
    return exit_conforms;
  };
}

}  // namespace rope
