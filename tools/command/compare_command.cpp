#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/command/commands.hpp"
#include "tools/command/print_text.hpp"
#include "tools/command/report_files.hpp"
#include "tools/report/comparison.hpp"
#include "tools/report/html/compared.hpp"
#include "tools/report/read_file.hpp"

namespace rope {

Action add_compare(CLI::App& app) {
  struct Options {
    std::string before, after;
    ReportFiles out{{{"html", "the same as a page for a browser, in one file"}}};
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "compare", "Set two JSON reports side by side, of two versions of a kernel; exit code 1 if something got worse");
  command->add_option("before", options->before, "A, what verify --json wrote")->type_name("FILE")->required();
  command->add_option("after", options->after, "B, the newer one")->type_name("FILE")->required();
  options->out.add_to(*command);
  return [options, command]() -> int {
    if (!command->parsed()) return -1;
    options->out.check();
    const Comparison comparison =
        compared(read_file(options->before), options->before, read_file(options->after), options->after);
    print_text(options->out.on_stdout() ? stderr : stdout, "{}", comparison_text(comparison));
    if (options->out.wants(0)) options->out.write(0, html::page_of(comparison, ROPECHECK_VERSION));
    return comparison.is_worse() ? exit_fails : exit_conforms;
  };
}

}  // namespace rope
