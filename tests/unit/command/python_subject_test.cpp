// Kernels in Python as subjects: their names, the interpreter that runs them, and the message if there is none.
// tests/unit/python judges such kernels.
#include <sys/stat.h>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

using Catch::Contains;

const Words no_choice{"ROPECHECK_PYTHON=", "VIRTUAL_ENV=", "PYTHONPATH="};

Words with(Words variables, const Words& more) {
  variables.insert(variables.begin(), more.begin(), more.end());
  return variables;
}

// An interpreter that tells how it was started, and never speaks the worker protocol.
std::string pretender(const std::filesystem::path& file, const std::string& name) {
  std::filesystem::create_directories(file.parent_path());
  write(file, "#!/bin/sh\necho \"" + name + " was given $* with $PYTHONPATH\"\n");
  chmod(file.c_str(), 0755);
  return file.string();
}

TEST_CASE("python subject: a name without a function is refused by what it lacks") {
  const std::string expected = "expected python:package.module:function";
  check_refused(2, {"verify", "python:"}, {"subject \"python:\": it names no function", expected});
  check_refused(2, {"verify", "python:kernels"}, {"\"kernels\" names no function of a module", expected});
  check_refused(2, {"verify", "python::rope"}, {"\":rope\" names no function of a module", expected});
  check_refused(2, {"verify", "python:a:b:c"}, {"\"a:b:c\" names no function of a module", expected});
  check_refused(2, {"verify", "python:a:b --convention"}, {"--convention has no value", expected});
  check_refused(2, {"verify", "python:a:b c:d"}, {"\"c:d\" names no function of a module", expected});
}

TEST_CASE("python subject: its options are only for kernels in Python") {
  check_refused(2, {"verify", "half_split", "--convention", "labml"}, {"--convention goes with a kernel in Python"});
  check_refused(2, {"identify", "half_split", "--python", "python3"}, {"--python goes with a kernel in Python"});
  check_refused(2, {"replay", "ROT-01:head_dim=8", "--subject", "half_split", "--convention", "labml"},
                {"--convention goes with a kernel in Python"});
  check_refused(2, {"golden", "verify", "half_split", "--convention", "labml"}, {"--convention goes with a kernel"});
}

TEST_CASE("python subject: --python, $ROPECHECK_PYTHON, $VIRTUAL_ENV and PATH are tried in this order") {
  const TemporaryFolder folder;
  const std::string option = pretender(folder / "an option", "option");
  const std::string chosen = "ROPECHECK_PYTHON=" + pretender(folder / "chosen", "chosen");
  pretender(folder / "venv/bin/python", "venv");
  const std::string venv = "VIRTUAL_ENV=" + (folder / "venv").string();
  pretender(folder / "path/python3", "path");
  const std::string path = "PATH=" + (folder / "path").string() + ":" + std::getenv("PATH");
  const Words command{"verify", "python:a.b:c", "--convention", "labml"};
  const auto told = [&](const char* name) {
    return Words{std::string(name) + " was given -m ropecheck.worker a.b:c --convention labml"};
  };
  Words with_option = command;
  with_option.insert(with_option.end(), {"--python", option});
  check_refused(3, with_option, told("option"), {chosen, venv, path});
  check_refused(3, command, told("chosen"), {chosen, venv, path});
  check_refused(3, command, told("venv"), {"ROPECHECK_PYTHON=", venv, path});
  check_refused(3, command, told("path"), {"ROPECHECK_PYTHON=", "VIRTUAL_ENV=", path});
}

TEST_CASE("python subject: the package of the source tree is found, and PYTHONPATH is kept") {
  const TemporaryFolder folder;
  const std::string python = "ROPECHECK_PYTHON=" + pretender(folder / "python", "it");
  const std::string package = (source_folder() / "tools/python").string();
  check_refused(3, {"verify", "python:a:b"}, {"with " + package + "\n"}, {python, "PYTHONPATH="});
  check_refused(3, {"verify", "python:a:b"}, {"with " + package + ":/of/mine\n"}, {python, "PYTHONPATH=/of/mine"});
}

TEST_CASE("python subject: options are part of its name, so a replay needs no others") {
  const TemporaryFolder folder;
  const std::string python = pretender(folder / "my python", "it");
  check_refused(3, {"verify", "python:a:b", "--convention", "labml", "--python", python},
                {"python:a:b --convention labml --python '" + python + "': "});
  const std::string named = "python:a:b --python '" + python + "' --convention labml";
  check_refused(3, {"replay", "ROT-01:head_dim=8", "--subject", named},
                {"it was given -m ropecheck.worker a:b --convention labml"});
}

TEST_CASE("python subject: a failed import is reported with what to do") {
  const Words python{"ROPECHECK_PYTHON=" + numpy_python(), "PYTHONDONTWRITEBYTECODE=1"};
  if (numpy_python().empty()) return;
  check_refused(3, {"verify", "python:nowhere.at.all:rope"},
                {"there is no module nowhere: looked in ", "run from the folder that holds it, install it"}, python);
  check_refused(3, {"verify", "python:json:rope"}, {"module json has no rope; it has "}, python);
  check_refused(3, {"verify", "python:json:decoder"}, {"json:decoder is a module; a kernel is a function"}, python);
  const TemporaryFolder folder;
  write(folder / "broken.py", "import math\nimport no_such_thing\n");
  check_refused(3, {"verify", "python:broken:rope"},
                {"importing broken failed: No module named 'no_such_thing'", "broken.py, line 2)", "--python FILE"},
                with(python, {"PYTHONPATH=" + folder.path().string()}));
  write(folder / "raising.py", "raise OSError('no device')\n");
  check_refused(3, {"verify", "python:raising:rope"},
                {"importing raising raised OSError: no device", "raising.py, line 1)"},
                with(python, {"PYTHONPATH=" + folder.path().string()}));
}

TEST_CASE("python subject: a failed import names the variables that were withheld, and nothing else does") {
  if (numpy_python().empty()) return;
  const TemporaryFolder folder;
  write(folder / "broken.py", "import os\nimport no_such_thing\n");
  write(folder / "odd.py", "rope = 5\n");
  const Words variables{"ROPECHECK_PYTHON=" + numpy_python(), "PYTHONDONTWRITEBYTECODE=1",
                        "PYTHONPATH=" + folder.path().string(), "MY_SOURCES=/src", "A_TOKEN=/x"};
  const auto said = [&](const std::string& subject, const Words& more) {
    Words command{"verify", "python:" + subject};
    command.insert(command.end(), more.begin(), more.end());
    return ropecheck(command, variables).err;
  };
  CHECK_THAT(said("broken:rope", {}), Contains("; the sandbox withheld ") && Contains("MY_SOURCES") &&
                                          Contains(": --env NAME passes one on") && !Contains("A_TOKEN"));
  CHECK_THAT(said("broken:rope", {"--env", "MY_SOURCES"}), !Contains("MY_SOURCES"));
  CHECK_THAT(said("broken:rope", {"--sandbox", "off"}), !Contains("withheld"));
  CHECK_THAT(said("odd:rope", {}), Contains("odd:rope is a int") && !Contains("withheld"));
}

TEST_CASE("python subject: an unsuitable interpreter is reported with what to do") {
  check_refused(3, {"verify", "python:a:b", "--python", "/nowhere/python"},
                {"the worker program /nowhere/python cannot be started: No such file or directory"}, no_choice);
  const TemporaryFolder folder;
  const std::filesystem::path bare = folder / "bare";
  write(bare, "#!/bin/sh\nexec '" + rope::python() + "' -S \"$@\"\n");  // without its site-packages
  chmod(bare.c_str(), 0755);
  check_refused(3, {"verify", "python:a:b", "--python", bare.string()}, {"has no numpy", "pip install numpy"},
                no_choice);
}

TEST_CASE("python subject: conventions are listed without their packages") {
  const Result result = ropecheck({"list", "conventions"}, {"ROPECHECK_PYTHON=" + rope::python()});
  CHECK(result.exit_code == 0);
  for (const char* name : {"huggingface", "labml", "lucidrains"}) CHECK_THAT(result.out, Contains(name));
  check_refused(2, {"list", "conventions"}, {"/nowhere/python cannot be started"},
                {"ROPECHECK_PYTHON=/nowhere/python"});
}

}  // namespace
}  // namespace rope
