#include <fmt/format.h>

#include "tests/conformance/explain.hpp"
#include "tests/conformance/suite.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/golden_folder.hpp"
#include "tools/command/subjects.hpp"

namespace rope {
namespace {

int replay_case(const std::string& id, const std::string& subject_name) {
  const Case c = case_from_text(id);
  const Requirement& requirement = requirement_called(c.requirement);
  const std::optional<Manifest> golden = find_golden();
  const std::unique_ptr<Subject> subject = open_subject(subject_name);
  Oracles oracles;
  const Finding finding = replay(c, *subject, oracles, golden ? &*golden : nullptr);
  fmt::print("{}  {}\n", requirement.id, requirement.sentence);
  fmt::print("  spec      {}\n", to_flags(c.spec));
  fmt::print("  found     {}\n", explain(finding));
  if (finding.element) {
    const Element& e = *finding.element;
    fmt::print("  worst     {}\n", place(e, c));
    fmt::print("  expected  {}\n  actual    {}\n", value_with_bits(e.dtype, e.expected),
               value_with_bits(e.dtype, e.actual));
    fmt::print("  error     {:.6g}, bound {:.6g}\n", e.error, e.bound);
  }
  fmt::print("  {}\n", finding.passed() ? "pass" : "FAIL");
  return finding.passed() ? exit_conforms : exit_fails;
}

}  // namespace

Action add_replay(CLI::App& app) {
  auto id = std::make_shared<std::string>();
  auto subject = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("replay", "Run one case again, as verify printed it");
  command->add_option("case", *id, "REQUIREMENT:field=value,..")->required();
  command->add_option("--subject", *subject, "the subject")->required();
  return [=]() -> int { return command->parsed() ? replay_case(*id, *subject) : -1; };
}

}  // namespace rope
