#!/usr/bin/env python3
"""tools/bench/run_all.py notices a benchmark that dies, that prints no figures, or that nothing runs."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parents[3] / "tools" / "bench"
sys.path.insert(0, str(BENCH))
import run_all  # noqa: E402
from run_all import Benchmark  # noqa: E402

BUILD = Path("/nonexistent")


def shell(script, rows=("one",), **fields):
    return Benchmark(("a.cpp",), lambda build, python, seconds: ["/bin/sh", "-c", script], rows, **fields)


class RunAll(unittest.TestCase):
    def problems(self, benchmark, python="python3"):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            problems = run_all.run_all((benchmark,), BUILD, python, 1)
        self.said = said.getvalue()
        return problems

    def test_one_that_prints_its_rows_ran(self):
        self.assertEqual(self.problems(shell("echo 'one   0.25 ms'; echo '| two | 3 |'", ("one", "| two"))), [])
        self.assertIn("ran", self.said)

    def test_one_that_dies_is_told_with_what_it_said(self):
        (problem,) = self.problems(shell("echo 'one 2 ms'; echo 'no kernel' >&2; exit 134"))
        self.assertEqual(problem, "a.cpp: exit code 134: no kernel")
        (problem,) = self.problems(shell("kill -ABRT $$"))
        self.assertIn("exit code -6: it says nothing", problem)
        self.assertIn("failed", self.said)

    def test_one_that_is_not_built_is_told(self):
        (problem,) = self.problems(Benchmark(("a.cpp",), lambda build, *_: [build / "a"], ("one",)))
        self.assertIn("/nonexistent/a", problem)

    def test_a_row_needs_a_figure_above_0(self):
        for said in ("", "one", "one ERROR OCCURRED: 'refused'", "one 0.000 ms", "another one 2 ms", "one2 ms"):
            with self.subTest(said=said):
                self.assertEqual(self.problems(shell(f'echo "{said}"')),
                                 ["a.cpp: expected a line with a figure that begins with 'one'"])

    def test_without_torch_it_is_left_out_and_says_so(self):
        self.assertEqual(self.problems(shell("exit 1", needs_torch=True), python=None), [])
        self.assertIn("left out", self.said)

    def test_with_torch_the_twin_runs_it(self):
        self.assertEqual(self.problems(shell("exit 1", in_twin=True)), [])
        self.assertEqual(len(self.problems(shell("exit 1", in_twin=True), python=None)), 1)
        twins = {benchmark.name for benchmark in run_all.BENCHMARKS if benchmark.needs_torch}
        for benchmark in run_all.BENCHMARKS:
            self.assertTrue(not benchmark.in_twin or benchmark.name.replace(".cpp", ".py") in twins)

    def test_every_file_is_run(self):
        self.assertEqual(run_all.unlisted(BENCH, run_all.BENCHMARKS), [])
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.cpp", "new_bench.cpp", "README.md"):
                (Path(folder) / name).touch()
            missing, extra = run_all.unlisted(Path(folder), (shell("", ()), Benchmark(("b.py",), None, ())))
        self.assertEqual(missing, "new_bench.cpp: nothing runs it; list it in run_all.py")
        self.assertEqual(extra, "b.py: run_all.py lists it, but the file is missing")

    def test_every_benchmark_has_rows(self):
        self.assertTrue(all(benchmark.rows for benchmark in run_all.BENCHMARKS))


if __name__ == "__main__":
    unittest.main()
