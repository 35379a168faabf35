#include <fmt/format.h>

#include "impls/builtin.hpp"
#include "reference/input_error.hpp"
#include "tests/conformance/requirement.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/golden_folder.hpp"

namespace rope {
namespace {

void list_requirements() {
  for (const Requirement& r : all_requirements()) {
    fmt::print("{}  {}\n        answers {}; does not see {}\n", r.id, r.sentence, r.answers, r.limits);
  }
}

void list_impls() {
  for (const rope_kernel* kernel : builtin_kernels()) fmt::print("{:<13} {}\n", kernel->name, kernel->description);
}

void list_goldens() {
  const std::optional<Manifest> golden = find_golden();
  if (!golden) throw InputError("no golden files were found; set ROPECHECK_GOLDEN to their folder");
  for (const GoldenCase& c : golden->cases) {
    fmt::print("{:<40} {:<8}  {} {}: {}{}\n", c.id, c.conforms ? "conforms" : "deviates", c.package, c.version,
               c.description, c.conforms ? "" : fmt::format(" ({})", c.reason));
  }
}

int list(const std::string& what) {
  if (what == "requirements") {
    list_requirements();
  } else if (what == "impls") {
    list_impls();
  } else if (what == "goldens") {
    list_goldens();
  } else {
    throw InputError(fmt::format("list: \"{}\" is not known; use requirements, impls or goldens", what));
  }
  return exit_conforms;
}

}  // namespace

Action add_list(CLI::App& app) {
  auto what = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("list", "List requirements, impls or goldens");
  command->add_option("what", *what, "requirements, impls or goldens")->required();
  return [=]() -> int { return command->parsed() ? list(*what) : -1; };
}

}  // namespace rope
