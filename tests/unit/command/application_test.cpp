// How a command line is read, and what tells of it: help, the man page, completion. All in this process.
#include "tools/command/application.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tests/unit/command/command_checks.hpp"
#include "tools/command/completion.hpp"
#include "tools/command/help_text.hpp"
#include "tools/command/man_page.hpp"
#include "tools/command/option_values.hpp"

namespace rope {
namespace {

using Catch::Contains;

// What a command took, by option; "subjects" is the place of the subjects.
std::map<std::string, Words> parsed(const Words& words) {
  Application application;
  application.parse(words);
  std::map<std::string, Words> values;
  const CLI::App* command = application.commands().get_subcommands().front();
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  for (const CLI::Option* option : command->get_options()) {
    if (option->count() > 0) values[option->get_name()] = option->results();
  }
  return values;
}

std::string answer_to(const Words& words) {
  Application application;
  try {
    application.parse(words);
  } catch (const CLI::ParseError& error) {
    return application.usage_error(error);
  }
  return "";
}

CommandRow table() { return described(Application().commands()); }

TEST_CASE("command line: a list of values ends where a word is none of them") {
  const Words one{"half_split"};
  const auto subjects = [](const Words& words) { return parsed(words)["subjects"]; };
  CHECK(subjects({"verify", "--only", "ROT-01", "half_split"}) == one);
  CHECK(subjects({"verify", "--only=ROT-01", "half_split"}) == one);
  CHECK(subjects({"verify", "--dtype", "f32", "half_split"}) == one);
  CHECK(subjects({"verify", "--require", "A1", "half_split"}) == one);
  CHECK(subjects({"verify", "--head-dim", "128", "--axes", "16:24:24", "half_split"}) == one);
  CHECK(subjects({"verify", "--only", "ROT-01", "--", "ROT"}) == Words{"ROT"});  // a kernel of that name
  const std::map<std::string, Words> both =
      parsed({"verify", "--only", "rot-01", "MEM", "ANG,POS-01", "half_split", "complex", "--dtype", "f32", "bf16"});
  CHECK(both.at("--only") == Words{"rot-01", "MEM", "ANG", "POS-01"});
  CHECK(both.at("subjects") == Words{"half_split", "complex"});
  CHECK(both.at("--dtype") == Words{"f32", "bf16"});
  CHECK(parsed({"plan", "--axes", "16", "24", "24"}).at("--axes") == Words{"16", "24", "24"});
  CHECK(parsed({"verify", "--only", "ROT", "--only", "MEM"}).at("--only") == Words{"ROT", "MEM"});
  const std::map<std::string, Words> files =
      parsed({"vectors", "export", "--features", "key", "offset", "--source", "tables", "calls"});
  CHECK(files.at("folder") == Words{"calls"});
  CHECK(files.at("--features") == Words{"key", "offset"});
  CHECK(parsed({"verify", "--env", "A", "--env", "B", "half_split"}).at("--env") == Words{"A", "B"});
  CHECK(parsed({"vectors", "verify", "--only", "ROT", "calls"}).at("folder") == Words{"calls"});
  CHECK(parsed({"replay", "--require", "A1", "ROT-01:head_dim=2", "--subject", "a"}).at("case") ==
        Words{"ROT-01:head_dim=2"});
}

// An option that takes several words without this would swallow the subjects behind it.
TEST_CASE("command line: every option with several values ends its list") {
  Application application;
  const auto check = [&](const CLI::App& command, const auto& self) -> void {
    for (const CLI::Option* option : command.get_options({})) {
      if (option->get_positional() || option->get_items_expected_max() <= 1) continue;
      INFO(option->get_name());
      CHECK(option->get_delimiter() != '\0');
      CHECK_FALSE(option->get_allow_extra_args());
      const Words known = words_of(option->get_type_name());
      CHECK((option->get_type_name() == kinds::pairs || !known.empty()));
      for (const std::string& word : known) CHECK(is_value(*option, word));
      CHECK_FALSE(is_value(*option, "half_split.so"));
    }
    for (const CLI::App* below : command.get_subcommands({})) self(*below, self);
  };
  check(application.commands(), check);
}

TEST_CASE("command line: an unknown word is answered with the one that was meant") {
  CHECK_THAT(answer_to({"verify", "--levle", "quick"}),
             Contains("verify: unknown option \"--levle\"; did you mean --level? see `ropecheck verify --help`"));
  CHECK_THAT(answer_to({"verify", "--levle=quick"}), Contains("did you mean --level?"));
  CHECK_THAT(answer_to({"verify", "--frobnicate"}), Contains("\"--frobnicate\"; see"));
  CHECK_THAT(answer_to({"verrify"}), Contains("did you mean verify? the commands are verify, "));
  CHECK_THAT(answer_to({"vectors", "exprt", "a"}),
             Contains("vectors: \"exprt\" is not a command; did you mean export? the commands are export, verify"));
  CHECK_THAT(answer_to({"vectors", "export", "a", "--levl", "quick"}),
             Contains("vectors export: unknown option \"--levl\"; did you mean --level? see `ropecheck vectors export"));
  CHECK_THAT(answer_to({"vectors"}), Contains("one of its commands is required: export, verify"));
  CHECK_THAT(answer_to({"verify", "--level", "quik"}), Contains("\"quik\" is not known; did you mean quick? use quick"));
  CHECK_THAT(answer_to({"list", "requirement"}), Contains("did you mean requirements?"));
  CHECK_THAT(answer_to({"completion", "csh"}), Contains("use bash, zsh or fish"));
}

TEST_CASE("command line: help of every command lists its options with their values, in 80 columns") {
  const CommandRow root = table();
  for (const CommandRow* command : all_of(root)) {
    const std::string text = help_text(*command);
    INFO(text);
    std::set<std::string> headings;
    for (const OptionGroup& group : command->groups) {
      for (const OptionRow& option : group.options) headings.insert("  " + heading_of(option));
    }
    for (const std::string& heading : headings) CHECK_THAT(text, Contains(heading));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK((line.size() <= 80 || headings.contains(line)));
  }
  CHECK_THAT(help_text(root), Contains("-V, --version") && Contains("  verify  "));
  Application application;
  CHECK_THROWS_AS(application.parse({"verify", "--help"}), CLI::CallForHelp);
  CHECK_THAT(application.commands().help(), Contains("Usage: ropecheck verify [OPTIONS] [SUBJECTS ..]") &&
                                                Contains("--level quick|full|exhaustive"));
}

TEST_CASE("command line: the man page has every command and option, and no text that troff would read") {
  const std::string page = man_page(table(), "1.2.3");
  const CommandRow root = table();
  for (const CommandRow* command : all_of(root)) {
    for (const OptionGroup& group : command->groups) {
      for (const OptionRow& option : group.options) {
        std::string name;
        for (const char c : option.names.back()) name += c == '-' ? "\\-" : std::string(1, c);
        CHECK_THAT(page, Contains(name));
      }
    }
  }
  CHECK_THAT(page, Contains(".TH ROPECHECK 1 \"\" \"ropecheck 1.2.3\"") && Contains(".SS ropecheck vectors export\n") &&
                       Contains("NO_COLOR"));
  const TemporaryFolder folder;
  write(folder / "ropecheck.1", page);
  const Result result = run_program(
      {"sh", "-c", "command -v groff > /dev/null || exit 77; groff -man -ww -Tutf8 -P -cbou \"$0\"", folder / "ropecheck.1"});
  if (result.exit_code == 77) {
    WARN("left out: groff is not installed");
    return;
  }
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, Contains("quick|full|exhaustive"));
}

TEST_CASE("command line: bash completes commands, options and values") {
  const TemporaryFolder folder;
  write(folder / "completion.bash", completion_for("bash", table()));
  write(folder / "test.bash",
        "source \"$1\"\ncomplete_words() {\n  COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))\n  _ropecheck\n"
        "  echo \"${COMPREPLY[@]}\"\n}\nwhile IFS= read -r line; do eval \"complete_words ropecheck $line\"; done\n");
  const struct {
    const char* typed;
    const char* completed;
  } rows[] = {{"ver", "verify"},
              {"verify --le", "--level"},
              {"verify --level ''", "quick full exhaustive"},
              {"verify --level q", "quick"},
              {"verify --level = f", "full"},
              {"verify --only ROT-0", "ROT-01 ROT-02 ROT-03 ROT-04 ROT-05 ROT-06 ROT-07 ROT-08 ROT-09"},
              {"verify --dtype f32,b", "f32,bf16"},
              {"verify half_s", "half_split"},
              {"vectors e", "export"},
              {"vectors export --most", "--most-kb"},
              {"golden verify --conv", "--convention"},
              {"verify --convention lab", "labml"},  // the Python package knows these
              {"list go", "goldens"},
              {"completion z", "zsh"},
              {"help id", "identify"},
              {"-", "-h --help -V --version"}};
  std::string typed, completed;
  for (const auto& row : rows) {
    typed += std::string(row.typed) + "\n";
    completed += std::string(row.completed) + "\n";
  }
  write(folder / "typed", typed);
  const Result result = run_program(
      {"bash", "-c", R"(cd "$0" && bash -u test.bash ./completion.bash < typed)", folder.path().string()},
      {"ROPECHECK_PYTHON=" + rope::python(), "PATH=" + build_folder().string() + ":" + std::getenv("PATH")});
  CHECK(result.err.empty());
  CHECK(result.out == completed);
}

TEST_CASE("command line: the scripts for zsh and fish are right scripts") {
  const TemporaryFolder folder;
  for (const std::string shell : {"zsh", "fish"}) {
    const std::string script = completion_for(shell, table());
    for (const char* word : {"verify", "exhaustive", "ROT-01", "half_split", "vectors"}) {
      CHECK_THAT(script, Contains(word));
    }
    write(folder / shell, script);
    const Result result = run_program(
        {"sh", "-c", R"(command -v "$0" > /dev/null || exit 77; exec "$0" -n "$1")", shell, folder / shell});
    if (result.exit_code == 77) {
      WARN("left out: " << shell << " is not installed");
      continue;
    }
    INFO(shell);
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
  }
  write(folder / "asked", "verify --level q\nverify --le\ngolden ver\ngolden verify --li\nverify --li\nlist go\n");
  const Result fish = run_program(
      {"sh", "-c",
       R"(cd "$0" && command -v fish > /dev/null || exit 77
          HOME=$PWD exec fish -c 'source fish; cat asked | while read line; complete -C "ropecheck $line" | cut -f 1; end')",
       folder.path().string()});
  if (fish.exit_code != 77) CHECK(fish.out == "quick\n--level\nverify\n--list\ngoldens\n");
  CHECK_THROWS_WITH(completion_for("csh", table()), Contains("use bash, zsh or fish"));
}

}  // namespace
}  // namespace rope
