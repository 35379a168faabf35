// Which files a subject may read and write.
#include "tools/worker/sandbox/file_rules.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/command/command_checks.hpp"

namespace rope::sandbox {
namespace {

namespace fs = std::filesystem;

// Whether a rule covers the path.
bool is_readable(const FileRules& rules, const fs::path& path) {
  return std::ranges::any_of(rules.readable, [&](const fs::path& rule) {
    return std::ranges::mismatch(rule, path).in1 == rule.end();
  });
}

TEST_CASE("sandbox: everything may be read but what is hidden, and what is needed there") {
  const TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path()), home = root / "home" / "me";
  for (const fs::path& made : {home / ".ssh", home / "project", home / "venv", root / "other", root / "reports"}) {
    fs::create_directories(made);
  }
  FilePolicy policy{{home}, {root / "reports"}, {home / "venv"}, {root / "other"}};
  FileRules rules = file_rules(policy);
  CHECK(is_readable(rules, root / "other"));
  CHECK(is_readable(rules, home / "venv"));
  CHECK(is_readable(rules, "/usr/lib"));
  for (const fs::path& hidden : {home / ".ssh", home / "project", home, root / "reports", fs::path("/dev/mem")}) {
    CAPTURE(hidden);
    CHECK_FALSE(is_readable(rules, hidden));
  }
  CHECK(std::ranges::count(rules.writable, root / "other") == 1);
  CHECK(rules.listable == std::vector<fs::path>{"/"});
  CHECK(std::ranges::count(rules.writable, fs::path("/dev/null")) == 1);

  policy.needed = {home, root / "reports"};
  rules = file_rules(policy);
  CHECK(is_readable(rules, home / "project"));
  CHECK(is_readable(rules, root / "reports"));
  CHECK_FALSE(is_readable(rules, home / ".ssh"));
}

TEST_CASE("sandbox: what a command and its variables name is needed, and where its Python comes from") {
  const TemporaryFolder folder;
  const fs::path venv = folder / "venv";
  fs::create_directories(venv / "bin");
  fs::create_directories(venv / "lib/python3.11/site-packages");
  write(venv / "pyvenv.cfg", "home = /opt/python/bin\nversion = 3.11\n");
  write(venv / "lib/python3.11/site-packages/mine.pth", "/src/mine\nimport this\n");
  fs::create_symlink("/bin/true", venv / "bin/python");
  const std::string worker = folder / "worker.py";
  write(worker, "");
  const auto needed = needed_paths({(venv / "bin/python").string(), worker}, {"PATH=/usr/bin:/bin", "LANG=C"});
  for (const fs::path& path : {venv, fs::path("/opt/python"), fs::path("/src/mine"), fs::path(worker),
                               fs::path("/usr/bin"), fs::current_path()}) {
    CAPTURE(path);
    CHECK(std::ranges::count(needed, path) > 0);
  }
}

}  // namespace
}  // namespace rope::sandbox
