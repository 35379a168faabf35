#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "reference/input_error.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/golden_folder.hpp"

namespace rope {
namespace {

// Python does the rest in a virtual environment of its own; this process becomes it, so that its progress, its
// interrupts and its exit code are the command's.
int regenerate(const std::vector<std::string>& arguments) {
  const std::string script = (source_folder() / "golden" / "regenerate" / "bootstrap.py").string();
  std::vector<std::string> words{"python3", script};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
  throw InputError(fmt::format("golden regenerate: python3 cannot be started: {}", std::strerror(errno)));
}

int check_files() {
  const std::optional<Manifest> golden = find_golden();
  if (!golden) throw InputError("no golden files were found; set ROPECHECK_GOLDEN to their folder");
  const std::size_t arrays = check_arrays(*golden);
  fmt::print("{} cases, {} arrays in {}: all as the manifest says\n", golden->cases.size(), arrays,
             golden->folder.string());
  return exit_conforms;
}

}  // namespace

Action add_golden(CLI::App& app) {
  CLI::App* command = app.add_subcommand("golden", "The golden files: check them, or make them again");
  command->require_subcommand(1);
  CLI::App* files = command->add_subcommand("check-files", "Check every file against the manifest");
  CLI::App* again = command->add_subcommand("regenerate",
                                            "Run the real packages again (needs Python; makes its own "
                                            "environment); --check compares instead of writing");
  again->allow_extras();
  again->prefix_command();
  again->set_help_flag();
  return [=]() -> int {
    if (files->parsed()) return check_files();
    if (again->parsed()) return regenerate(again->remaining());
    return -1;
  };
}

}  // namespace rope
