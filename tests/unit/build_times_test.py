"""tools/build_times: python3 build_times_test.py"""

import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path
from subprocess import run

PROGRAM = Path(__file__).resolve().parents[2] / "tools" / "build_times"
LOADER = importlib.machinery.SourceFileLoader("build_times", str(PROGRAM))
build_times = importlib.util.module_from_spec(importlib.util.spec_from_loader("build_times", LOADER))
LOADER.exec_module(build_times)

LOG = "# ninja log v5\n0\t1000\t1\ta/CMakeFiles/one.dir/x.o\th\n5\t2505\t2\ta/CMakeFiles/one.dir/x.o\th\n1\t2\t3\tone\th\n"


class Times(unittest.TestCase):
    def test_a_step_counts_as_it_was_last_made(self):
        self.assertEqual(build_times.steps_of(LOG), {"a/CMakeFiles/one.dir/x.o": 2.5, "one": 0.001})

    def test_steps_are_of_libraries(self):
        self.assertEqual(build_times.library_of("a/CMakeFiles/one.dir/Unity/u.o"), "one")
        self.assertEqual(build_times.library_of("ropecheck"), "links and generated files")

    def test_headers_have_the_names_that_we_include_them_by(self):
        build, included = build_times.ROOT / "build" / "release", {"<CLI/CLI.hpp>"}
        names = {"../../reference/real.hpp": "reference/real.hpp", "/usr/include/CLI/CLI.hpp": "<CLI/CLI.hpp>",
                 "/usr/include/CLI/App.hpp": None, "generated/words.hpp": None, "/usr/include/math.h": None}  # fmt: skip
        for header, name in names.items():
            self.assertEqual(build_times.name_of(header, build, included), name, header)

    def test_headers_follow_the_step_that_read_them(self):
        text = "x.o: #deps 2, deps mtime 5 (VALID)\n    a.hpp\n    b.hpp\n\ny.o: #deps 0, deps mtime 5 (VALID)\n"
        self.assertEqual(dict(build_times.deps_of(text)), {"x.o": ["a.hpp", "b.hpp"]})

    def test_a_folder_without_a_build_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run([sys.executable, PROGRAM, folder], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{folder}/.ninja_log is not there", done.stderr)
            (Path(folder) / ".ninja_log").write_text(LOG)
            done = run([sys.executable, PROGRAM, folder], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("2 steps, 3 s of one core each", done.stdout)
            self.assertIn("      2.5 s     1  one", done.stdout)


if __name__ == "__main__":
    unittest.main()
