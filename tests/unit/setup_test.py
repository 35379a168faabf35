#!/usr/bin/env python3
"""tools/run and tools/setup, on a small project in the place of ropecheck: python3 setup_test.py"""

import fcntl
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONG = 60  # seconds; longer than any of this takes
PRESETS = """{"version": 3, "configurePresets": [{"name": "release", "generator": "Ninja",
    "binaryDir": "${sourceDir}/build/release", "cacheVariables": {"ROPECHECK_TESTS": "ON"}}]}"""
PROJECT = """
    cmake_minimum_required(VERSION 3.22)
    project(ropecheck LANGUAGES NONE)
    option(ROPECHECK_TESTS "" ON)
    add_custom_command(OUTPUT ropecheck COMMAND cp "${PROJECT_SOURCE_DIR}/program" ropecheck
      DEPENDS "${PROJECT_SOURCE_DIR}/program" VERBATIM)
    add_custom_target(program ALL DEPENDS ropecheck)
    if(ROPECHECK_TESTS)
      file(GLOB tests CONFIGURE_DEPENDS *_test)
      add_custom_command(OUTPUT unit_tests COMMAND touch unit_tests DEPENDS ${tests} VERBATIM)
      add_custom_target(all_tests ALL DEPENDS unit_tests)
    endif()
"""
BUILD_ALL = 'tests=ON; source "$root/tools/setup"; with_build_lock build_target all'


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        (self.root / "tools").mkdir()
        for name in ("run", "setup"):
            shutil.copy(ROOT / "tools" / name, self.root / "tools")
        (self.root / "tools" / "packages.txt").write_text("# none\n")
        (self.root / "CMakePresets.json").write_text(PRESETS)
        (self.root / "CMakeLists.txt").write_text(PROJECT)
        (self.root / "a_test").touch()
        self.write_program("first")

    def write_program(self, words):
        program = self.root / "program"
        program.write_text(f'#!/bin/sh\necho {words} "$@"\n')
        program.chmod(0o755)

    def start(self, *words):
        return subprocess.Popen([self.root / "tools" / "run", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)  # fmt: skip

    def run_program(self, *words):
        """(stdout, stderr) of tools/run, which has to succeed."""
        process = self.start(*words)
        out, err = process.communicate(timeout=LONG)
        self.assertEqual(process.returncode, 0, err)
        return out, err

    def build_tests(self):
        subprocess.run(["bash", "-euo", "pipefail", "-c", BUILD_ALL], env={**os.environ, "root": str(self.root)},
                       check=True, timeout=LONG)  # fmt: skip

    def configured_tests(self):
        cache = (self.root / "build/release/CMakeCache.txt").read_text()
        return next(line for line in cache.splitlines() if line.startswith("ROPECHECK_TESTS:")).partition("=")[2]

    @contextmanager
    def another_build(self):
        with open(self.root / "build" / "setup.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def assert_waits(self, expected):
        with self.another_build():
            process = self.start()
            self.assertIn("waiting for another build", process.stderr.readline())
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(0.2)
        out, err = process.communicate(timeout=LONG)
        self.assertEqual((process.returncode, out), (0, expected), err)

    def test_it_builds_what_is_missing_but_no_tests(self):
        self.assertEqual(self.run_program("a", "b c")[0], "first a b c\n")
        self.assertEqual(self.configured_tests(), "OFF")
        self.write_program("second")
        self.assertEqual(self.run_program(), ("second\n", ""))
        self.assertFalse((self.root / "build/release/unit_tests").exists())

    def test_it_waits_for_another_build_only_if_something_is_to_be_built(self):
        self.run_program()
        with self.another_build():
            self.assertEqual(self.run_program("a"), ("first a\n", ""))
        self.write_program("second")
        self.assert_waits("second\n")
        (self.root / "CMakeLists.txt").write_text(PROJECT.replace("/program\" ropecheck", "/other\" ropecheck"))
        self.write_program("third")
        (self.root / "program").rename(self.root / "other")
        self.write_program("second")
        self.assert_waits("third\n")

    def test_configured_tests_stay_and_do_not_make_it_wait(self):
        self.run_program()
        self.build_tests()
        self.assertEqual(self.configured_tests(), "ON")
        self.assertTrue((self.root / "build/release/unit_tests").exists())
        (self.root / "a_new_test").touch()
        with self.another_build():
            self.assertEqual(self.run_program(), ("first\n", ""))
        self.assertEqual(self.configured_tests(), "ON")

    def test_a_slow_build_says_how_far_it_is(self):
        slow = 'echo "[1/4] a"; sleep 2.5; echo "[3/4] b"; sleep 3'
        script = ('tests=OFF; source "$root/tools/setup"; seconds_between_lines=1; '
                  f"logged building '{self.root}/log' bash -c '{slow}'")  # fmt: skip
        said = subprocess.run(["bash", "-euo", "pipefail", "-c", script], env={**os.environ, "root": str(self.root)},
                              check=True, timeout=LONG, capture_output=True, text=True).stderr  # fmt: skip
        self.assertRegex(said, r"ropecheck: building takes a moment; its log is .*/log\n")
        self.assertRegex(said, r"ropecheck: building: 1 of 4 steps, \d s, about \d+ s left at this pace\n")
        self.assertRegex(said, r"ropecheck: building: 3 of 4 steps, \d s, about [1-3] s left at this pace\n")

    def test_on_a_terminal_the_progress_stands_in_one_line(self):
        script = f"tests=OFF; source tools/setup; logged building '{self.root}/log' sh -c 'echo \"[1/2] a\"; sleep 4'"
        shown = subprocess.run(["script", "-qec", f"root='{self.root}' bash -euo pipefail -c {shlex.quote(script)}",
                                "/dev/null"], cwd=self.root, stdin=subprocess.DEVNULL, check=True, timeout=LONG,
                               capture_output=True).stdout.decode()  # fmt: skip
        self.assertRegex(shown, r"\r\x1b\[Kropecheck: building: 1 of 2 steps, \d s, about \d s left at this pace")
        self.assertTrue(shown.endswith("\r\x1b[K"), shown)

    def test_kinds_of_packages(self):
        (self.root / "tools" / "packages.txt").write_text(
            "needed no-such-package-a # why\ntests no-such-package-b # why\nhelpful no-such-package-c # why\n")
        for tests, expected in (("OFF", "no-such-package-a"), ("ON", "no-such-package-a no-such-package-b")):
            script = f'tests={tests}; source "$root/tools/setup"; missing_packages "${{needed_kinds[@]}}"'
            found = subprocess.run(["bash", "-euo", "pipefail", "-c", script], env={**os.environ, "root": str(self.root)},
                                   check=True, timeout=LONG, capture_output=True, text=True)  # fmt: skip
            self.assertEqual(found.stdout.strip(), expected)


if __name__ == "__main__":
    unittest.main()
