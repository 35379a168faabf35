#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "impls/builtin.hpp"
#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/cuda_kernel.hpp"
#include "tools/command/golden_folder.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/print_text.hpp"
#include "tools/command/python_options.hpp"
#include "tools/report/requirements_page.hpp"
#include "tools/report/write_file.hpp"

namespace rope {
namespace {

using Json = nlohmann::ordered_json;

Json requirements() {
  Json all = Json::array();
  for (const Requirement& r : all_requirements()) {
    all.push_back({{"id", r.id},
                   {"must", r.is_must()},
                   {"sentence", r.sentence},
                   {"answers", r.answers},
                   {"limits", r.limits}});
  }
  return all;
}

Json impls() {
  Json all = Json::array();
  for (const rope_kernel* kernel : builtin_kernels()) {
    all.push_back({{"name", kernel->name}, {"description", kernel->description}});
  }
  const bool is_built = std::filesystem::exists(cuda_kernel_library());
  all.push_back({{"name", cuda_kernel_name},
                 {"description", is_built ? "the same for devices; needs an NVIDIA driver"
                                          : "the same for devices; not in this build, which had no nvcc"}});
  return all;
}

Json goldens() {
  const std::optional<Manifest> golden = find_golden();
  if (!golden) throw InputError("no golden files were found; set ROPECHECK_GOLDEN to their folder");
  Json all = Json::array();
  for (const GoldenCase& c : golden->cases) {
    Json one{{"id", c.id},           {"conforms", c.conforms},       {"package", c.package},
             {"version", c.version}, {"description", c.description}};
    if (!c.conforms) one["reason"] = c.reason;
    all.push_back(std::move(one));
  }
  return all;
}

std::string requirement_line(const Json& r) {
  const auto text = [&](const char* key) { return r[key].get<std::string>(); };
  return fmt::format("{}  {:<6}  {}\n                answers {}; does not see {}\n", text("id"),
                     r["must"].get<bool>() ? "MUST" : "SHOULD", text("sentence"), text("answers"), text("limits"));
}

std::string impl_line(const Json& impl) {
  return fmt::format("{:<13} {}\n", impl["name"].get<std::string>(), impl["description"].get<std::string>());
}

std::string golden_line(const Json& c) {
  const auto text = [&](const char* key) { return c[key].get<std::string>(); };
  const bool conforms = c["conforms"].get<bool>();
  return fmt::format("{:<40} {:<8}  {} {}: {}{}\n", text("id"), conforms ? "conforms" : "deviates", text("package"),
                     text("version"), text("description"), conforms ? "" : fmt::format(" ({})", text("reason")));
}

// What can be listed: its data, and a line of each for a person.
const struct Listing {
  std::string_view what;
  Json (*all)();
  std::string (*line)(const Json& one);
} listings[] = {{"requirements", requirements, requirement_line}, {"impls", impls, impl_line},
                {"goldens", goldens, golden_line}};

constexpr std::string_view conventions = "conventions";

// The Python package knows the conventions; the interpreter that has it replaces this process.
void list_conventions(bool as_json) {
  for (const std::string& variable : python_environment()) {
    const std::size_t end = variable.find('=');
    setenv(variable.substr(0, end).c_str(), variable.c_str() + end + 1, 1);
  }
  const std::string python = default_python();
  execlp(python.c_str(), python.c_str(), "-m", "ropecheck.conventions", as_json ? "--json" : nullptr, nullptr);
  throw InputError(fmt::format("list conventions: {} cannot be started: {}", python, std::strerror(errno)));
}

void write_page(const std::string& file) {
  const std::string page = requirements_page(all_requirements());
  if (file == "-") {
    print_data(page);
  } else {
    write_file(file, page);
  }
}

int list(const std::string& what, const std::string& markdown, bool as_json) {
  if (!markdown.empty() && what != "requirements") {
    throw InputError(fmt::format("list: --markdown goes with requirements, not with {}", what));
  }
  if (!markdown.empty() && as_json) throw InputError("list: --json and --markdown are two formats; give one");
  if (!markdown.empty()) {
    write_page(markdown);
    return exit_conforms;
  }
  if (what == conventions) list_conventions(as_json);
  for (const Listing& listing : listings) {
    if (listing.what != what) continue;
    const Json all = listing.all();
    if (as_json) print_data(all.dump(2) + "\n");
    for (const Json& one : as_json ? Json::array() : all) print_text(stdout, "{}", listing.line(one));
  }
  return exit_conforms;
}

}  // namespace

Action add_list(CLI::App& app) {
  auto what = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("list", "List requirements, impls, goldens or conventions");
  std::vector<std::string_view> words;
  for (const Listing& listing : listings) words.push_back(listing.what);
  words.push_back(conventions);
  takes_one_of(command->add_option("what", *what, "what to list"), words)->required();
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "as JSON, an array with an object for each");
  auto markdown = std::make_shared<std::string>();
  command->add_option("--markdown", *markdown, "of requirements: write them here as a page (- is stdout)")
      ->type_name(kinds::file);
  return [=]() -> int { return command->parsed() ? list(*what, *markdown, *as_json) : -1; };
}

}  // namespace rope
