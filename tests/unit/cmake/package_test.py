#!/usr/bin/env python3
"""ropecheck installed, and in other projects: python3 package_test.py BUILD [--compile]

The projects come from examples/cmake. Without --compile they use the programs of the build folder. With it, one of
them builds ropecheck, which takes minutes.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
EXAMPLES = ROOT / "examples" / "cmake"
OURS = ("ROPECHECK", "PYTHONPATH", "VIRTUAL_ENV", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH")
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
INSTALLED = """
    bin/ropecheck
    include/rope_kernel.h
    lib/cmake/ropecheck/ropecheckConfig.cmake
    lib/cmake/ropecheck/ropecheckConfigVersion.cmake
    lib/cmake/ropecheck/ropecheck_add_test.cmake
    lib/pkgconfig/ropecheck.pc
    libexec/ropecheck/libropecheck_faults.so
    libexec/ropecheck/ropecheck_host
    libexec/ropecheck/ropecheck_sandbox
    share/doc/ropecheck/LICENSE
    share/doc/ropecheck/PROTOCOL.md
    share/ropecheck/golden/README.md
    share/ropecheck/golden/bounds.py
    share/ropecheck/golden/definition.py
    share/ropecheck/golden/errors.json
    share/ropecheck/golden/manifest.json
    share/ropecheck/golden/seeds.py
    share/ropecheck/golden/verify.py
    share/ropecheck/python/rope_kernel.py
    share/ropecheck/python/ropecheck/worker.py
    share/ropecheck/schemas/certificate.schema.json
    share/ropecheck/schemas/golden_manifest.schema.json
    share/ropecheck/schemas/golden_report.schema.json
    share/ropecheck/schemas/plan.schema.json
    share/ropecheck/schemas/report.schema.json
    share/ropecheck/schemas/rope_spec.schema.json
    share/ropecheck/schemas/vectors_manifest.schema.json
"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.build = self.folder / "build"

    def run_words(self, *words, code=0, **options):
        """stdout and stderr of a program, which has to end with this exit code."""
        done = subprocess.run([str(word) for word in words], env=ENVIRONMENT, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, **options)  # fmt: skip
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}")
        return done.stdout

    def configure(self, source, *definitions, code=0):
        return self.run_words("cmake", "-G", "Ninja", "-S", source, "-B", self.build, *definitions, code=code)

    def ctest(self, *words, code=0):
        return self.run_words("ctest", "--test-dir", self.build, "--output-on-failure", *words, code=code)

    def listed(self):
        """{name: its entry in the JSON of ctest}"""
        found = json.loads(self.run_words("ctest", "--test-dir", self.build, "--show-only=json-v1"))
        return {test["name"]: test for test in found["tests"]}


def properties_of(test):
    return {each["name"]: each["value"] for each in test["properties"]}


class Installation(Case):
    """Installed into one folder, moved to another, and used there."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        first = Path(cls.place.name).resolve() / "first"
        subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(first)], check=True, stdout=subprocess.PIPE)
        cls.prefix = first.with_name("second")
        first.rename(cls.prefix)
        cls.program = cls.prefix / "bin" / "ropecheck"
        cls.libraries = next(cls.prefix.glob("lib*/**/cmake")).parent

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def find(self, call, *definitions, code=0):
        """Configures added_tests with this call and the installed package."""
        return self.configure(HERE / "added_tests", "-DFIND=ON", f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCALL={call}",
                              *definitions, code=code)  # fmt: skip

    def test_its_files(self):
        files = {path.relative_to(self.prefix).as_posix() for path in self.prefix.rglob("*") if path.is_file()}
        library_folder = self.libraries.relative_to(self.prefix).as_posix()
        self.assertLessEqual({name.replace("lib/", library_folder + "/", 1) if name.startswith("lib/") else name
                              for name in INSTALLED.split()}, files)  # fmt: skip
        self.assertEqual({name.split("/")[0] for name in files} - {"lib"}, {"bin", "include", "libexec", "share"})
        arrays = {path.relative_to(ROOT).as_posix() for path in (ROOT / "golden/arrays").rglob("*.npy")}
        self.assertLessEqual({f"share/ropecheck/{name}" for name in arrays}, files)
        self.assertFalse([name for name in files if name.endswith(".pyc")])

    def test_no_file_knows_the_build_or_the_sources(self):
        for path in self.prefix.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            for folder in (ROOT, BUILD, self.prefix.with_name("first")):
                self.assertNotIn(bytes(folder) + b"/", content, path)

    def test_the_command_finds_its_files(self):
        out = self.run_words(self.program, "verify", "half_split", "--level", "quick", "--only", "ROT-01,GLD-01", "--verbose")
        self.assertRegex(out, r"GLD-01  pass")
        self.assertIn(str(self.prefix / "share/ropecheck/golden"), self.run_words(self.program, "golden", "check-files"))
        self.assertIn("huggingface", self.run_words(self.program, "list", "conventions"))
        out = self.run_words(self.program, "verify", BUILD / "examples/my_kernel.so", "--level", "quick", "--only", "ROT-01")
        self.assertIn("conforms", out)

    def test_a_kernel_in_python(self):
        python = next((each for each in (sys.executable, "/usr/bin/python3") if shutil.which(each) and subprocess.run(
            [each, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0), None)  # fmt: skip
        if python is None:
            self.skipTest("numpy is missing")
        shutil.copy(ROOT / "examples/python/numpy_kernel.py", self.folder)
        self.assertIn("conforms", self.run_words(self.program, "verify", "python:numpy_kernel:rope", "--python", python,
                                                 "--level", "quick", "--only", "ROT-01"))  # fmt: skip

    def test_golden_files_are_made_only_in_a_checkout(self):
        out = self.run_words(self.program, "golden", "regenerate", "--check", code=2)
        self.assertIn("clone it and run tools/run golden regenerate there", out)
        self.assertNotIn(str(ROOT), out)

    def test_the_example_of_find_package(self):
        self.configure(EXAMPLES / "find_package", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.run_words("cmake", "--build", self.build)
        self.assertIn("100% tests passed, 0 tests failed out of 1", self.ctest())
        (test,) = self.listed().values()
        self.assertEqual(test["command"], [str(self.program), "verify", str(self.build / "libmy_kernel.so"), "--level",
                                           "quick", "--require", "A1"])  # fmt: skip

    def test_the_example_of_pkg_config(self):
        for name in ("make", "pkg-config"):
            if not shutil.which(name):
                self.skipTest(f"{name} is missing")
        variables = f"PKG_CONFIG_PATH={self.libraries / 'pkgconfig'}"
        out = self.run_words("make", "-f", EXAMPLES / "pkg_config/Makefile", "check", variables)
        self.assertIn("my_kernel: conforms", out)
        for variable, place in (("program", "bin/ropecheck"), ("schemas", "share/ropecheck/schemas")):
            out = self.run_words("env", variables, "pkg-config", f"--variable={variable}", "ropecheck")
            self.assertEqual(Path(out.strip()).resolve(), self.prefix / place)

    def test_arguments(self):
        self.find("ropecheck_add_test(TARGET kernel)", "-DLIBRARY=/my kernels/a.so")
        (test,) = self.listed().values()
        self.assertEqual(test["name"], "ropecheck.kernel")
        self.assertEqual(test["command"][2:], ["/my kernels/a.so", "--level", "quick"])
        self.find("ropecheck_add_test(TARGET kernel KERNEL a LEVEL full REQUIRE A1 robust ONLY ROT-01 MEM LABELS x y "
                  "OPTIONS --seed 3)")  # fmt: skip
        (test,) = self.listed().values()
        self.assertEqual(test["name"], "ropecheck.kernel.a")
        self.assertEqual(test["command"][2:], ["/my kernels/a.so#a", "--level", "full", "--require", "A1,robust", "--only",
                                               "ROT-01,MEM", "--seed", "3"])  # fmt: skip
        properties = properties_of(test)
        self.assertEqual(properties["LABELS"], ["ropecheck", "x", "y"])
        self.assertEqual(properties["WORKING_DIRECTORY"], str(self.build))
        self.find("ropecheck_add_test(TARGET kernel NAME mine)")
        self.assertEqual(list(self.listed()), ["mine"])

    def test_wrong_arguments(self):
        for call, words in [
            ("", "TARGET is missing"),
            ("TARGET", "TARGET has no value"),
            ("TARGET nothing", "TARGET nothing is not a target; call this after add_library(nothing ..)"),
            ("TARGET static", "TARGET static is of type STATIC_LIBRARY; expected a SHARED or MODULE library"),
            ("TARGET kernel LEVEL slow", "LEVEL slow is unknown; expected quick, full or exhaustive"),
            ("TARGET kernel LEVEL 0", "LEVEL 0 is unknown"),
            ("TARGET kernel ONLY", "ONLY has no value"),
            ("kernel", "unknown argument kernel"),
            ("TARGET kernel OFF", "unknown argument OFF"),
        ]:
            with self.subTest(call):
                out = self.find(f"ropecheck_add_test({call})", code=1)
                self.assertIn(words, " ".join(out.split()))
        out = self.configure(HERE / "added_tests", "-DFIND=OFF", f"-DFUNCTION={ROOT / 'cmake/ropecheck_add_test.cmake'}",
                             "-DCALL=ropecheck_add_test(TARGET kernel)", code=1)  # fmt: skip
        self.assertIn("call find_package(ropecheck) in this folder or one above it", " ".join(out.split()))

    def test_what_passes_and_what_fails(self):
        call = "ropecheck_add_test(TARGET kernel ONLY ROT-01)"
        for library, words in [
            (BUILD / "examples/my_kernel.so", "100% tests passed"),
            (BUILD / "examples/broken_kernel.so", "ROT-01  FAIL"),
            (self.folder / "absent.so", "absent.so does not exist"),  # exit code 3
            (self.program, "0 tests passed|could not|not a|cannot"),  # no library
        ]:
            with self.subTest(library):
                self.find(call, f"-DLIBRARY={library}")
                is_right = words.startswith("100%")
                out = self.ctest(code=0 if is_right else 8)
                self.assertRegex(out, words)
                self.assertEqual("ropecheck.kernel (Failed)" in out, not is_right)

    def test_versions(self):
        for version, fits in (("0.1", True), ("0.2", False), ("1.0", False)):
            self.build = self.folder / version
            source = self.folder / "source"
            source.mkdir(exist_ok=True)
            (source / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.22)\nproject(version LANGUAGES NONE)\n"
                f"find_package(ropecheck {version} REQUIRED)\n")  # fmt: skip
            self.configure(source, f"-DCMAKE_PREFIX_PATH={self.prefix}", code=0 if fits else 1)


class Subproject(Case):
    def test_it_adds_nothing_to_all_and_no_common_name(self):
        self.configure(EXAMPLES / "add_subdirectory", f"-DCMAKE_PROJECT_INCLUDE={HERE / 'list_targets.cmake'}",
                       "-DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON", "-DCMAKE_BUILD_TYPE=Debug",
                       "-DCMAKE_CXX_FLAGS=-ffast-math")  # fmt: skip
        targets = set((self.build / "targets.txt").read_text().split())
        self.assertLessEqual({"my_kernel", "ropecheck", "ropecheck_contract"}, targets)
        self.assertEqual([name for name in targets if not re.match("rope(check)?(_|$)", name)], ["my_kernel"])
        self.run_words("cmake", "--build", self.build)
        built = [path.name for path in self.build.rglob("*") if path.suffix in (".o", ".so", ".a")]
        self.assertEqual(sorted(built), ["libmy_kernel.so", "my_kernel.c.o"])
        self.run_words("cmake", "--install", self.build, "--prefix", self.folder / "prefix")
        self.assertFalse((self.folder / "prefix").exists())

        cache = (self.build / "CMakeCache.txt").read_text()
        self.assertIn("\nCMAKE_BUILD_TYPE:STRING=Debug\n", cache)
        self.assertNotIn("CMAKE_CUDA", cache)
        commands = self.run_words("ninja", "-C", self.build, "-t", "commands", "ropecheck").splitlines()
        compiled = [command for command in commands if " -c " in command]
        self.assertGreater(len(compiled), 20)
        for command in compiled:
            self.assertIn(" -O", command)
            self.assertNotIn("-DNDEBUG", command)
            if "-ffast-math" in command:
                self.assertLess(command.index("-ffast-math"), command.index("-fno-fast-math"))

        tests = self.listed()
        self.assertEqual(set(tests), {"ropecheck_build", "ropecheck.my_kernel"})
        self.assertEqual(properties_of(tests["ropecheck.my_kernel"])["FIXTURES_REQUIRED"], ["ropecheck_program"])
        self.assertEqual(properties_of(tests["ropecheck_build"])["FIXTURES_SETUP"], ["ropecheck_program"])
        command = tests["ropecheck_build"]["command"]
        self.assertEqual(command[1:3], ["--build", str(self.build)])
        self.assertEqual(command[command.index("--target") + 1], "ropecheck")

    def test_it_takes_built_programs(self):
        self.configure(EXAMPLES / "fetch_content", f"-DROPECHECK_PREBUILT={BUILD}")
        self.run_words("cmake", "--build", self.build)
        self.assertIn("100% tests passed, 0 tests failed out of 1", self.ctest())

    def test_the_first_test_builds_it(self):
        if not COMPILE:
            self.skipTest("compiles for minutes; --compile runs it")
        self.configure(EXAMPLES / "fetch_content")
        self.run_words("cmake", "--build", self.build)
        self.assertFalse(list(self.build.rglob("ropecheck_host")))
        self.assertIn("100% tests passed, 0 tests failed out of 2", self.ctest("--tests-regex", "my_kernel"))
        (program,) = (path for path in self.build.rglob("ropecheck") if path.is_file())
        out = self.run_words(program, "verify", "half_split", "--level", "quick", "--only", "GLD-01", "--verbose")
        self.assertRegex(out, r"GLD-01  pass")
        self.assertIn("huggingface", self.run_words(program, "list", "conventions"))


class Examples(Case):
    def test_the_kernels_in_c_are_valid_c_and_cpp(self):
        for kernel in ("my_kernel", "broken_kernel"):
            for language, standard in (("c", "c99"), ("c++", "c++11"), ("c++", "c++20")):
                self.run_words(
                    os.environ.get("CXX", "c++"), "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic",
                    "-Wconversion", "-Wshadow", "-Werror", "-fPIC", "-shared", "-I", ROOT / "impls/include",
                    ROOT / f"examples/{kernel}.c", "-o", f"{kernel}.so")  # fmt: skip
            exported = self.run_words("nm", "-D", "--defined-only", f"{kernel}.so")
            self.assertRegex(exported, r" T rope_kernel_get\n")


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    COMPILE = "--compile" in sys.argv
    if COMPILE:
        sys.argv.remove("--compile")
    unittest.main()
