#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "impls/builtin.hpp"
#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/cuda_kernel.hpp"
#include "tools/command/golden_folder.hpp"
#include "tools/command/python_options.hpp"
#include "tools/report/requirements_page.hpp"
#include "tools/report/write_file.hpp"

namespace rope {
namespace {

void list_requirements() {
  for (const Requirement& r : all_requirements()) {
    fmt::print("{}  {:<6}  {}\n                answers {}; does not see {}\n", r.id, r.is_must() ? "MUST" : "SHOULD",
               r.sentence, r.answers, r.limits);
  }
}

void list_impls() {
  for (const rope_kernel* kernel : builtin_kernels()) fmt::print("{:<13} {}\n", kernel->name, kernel->description);
  fmt::print("{:<13} {}\n", cuda_kernel_name,
             std::filesystem::exists(cuda_kernel_library())
                 ? "the same for devices; needs an NVIDIA driver"
                 : "the same for devices; not in this build, which had no nvcc");
}

void list_goldens() {
  const std::optional<Manifest> golden = find_golden();
  if (!golden) throw InputError("no golden files were found; set ROPECHECK_GOLDEN to their folder");
  for (const GoldenCase& c : golden->cases) {
    fmt::print("{:<40} {:<8}  {} {}: {}{}\n", c.id, c.conforms ? "conforms" : "deviates", c.package, c.version,
               c.description, c.conforms ? "" : fmt::format(" ({})", c.reason));
  }
}

// The Python package knows the conventions; the interpreter that has it replaces this process.
void list_conventions() {
  for (const std::string& variable : python_environment()) {
    const std::size_t end = variable.find('=');
    setenv(variable.substr(0, end).c_str(), variable.c_str() + end + 1, 1);
  }
  const std::string python = default_python();
  execlp(python.c_str(), python.c_str(), "-m", "ropecheck.conventions", nullptr);
  throw InputError(fmt::format("list conventions: {} cannot be started: {}", python, std::strerror(errno)));
}

void write_page(const std::string& file) {
  const std::string page = requirements_page(all_requirements());
  if (file == "-") {
    fmt::print("{}", page);
  } else {
    write_file(file, page);
  }
}

int list(const std::string& what, const std::string& markdown) {
  if (!markdown.empty() && what != "requirements") {
    throw InputError(fmt::format("list: --markdown goes with requirements, not with {}", what));
  }
  if (!markdown.empty()) {
    write_page(markdown);
  } else if (what == "requirements") {
    list_requirements();
  } else if (what == "impls") {
    list_impls();
  } else if (what == "goldens") {
    list_goldens();
  } else if (what == "conventions") {
    list_conventions();
  } else {
    throw InputError(fmt::format("list: \"{}\" is not known; use requirements, impls, goldens or conventions", what));
  }
  return exit_conforms;
}

}  // namespace

Action add_list(CLI::App& app) {
  auto what = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("list", "List requirements, impls, goldens or conventions");
  command->add_option("what", *what, "requirements, impls, goldens or conventions")->required();
  auto markdown = std::make_shared<std::string>();
  command->add_option("--markdown", *markdown, "of requirements: write them here as a page (- is stdout)");
  return [=]() -> int { return command->parsed() ? list(*what, *markdown) : -1; };
}

}  // namespace rope
