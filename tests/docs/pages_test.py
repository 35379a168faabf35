"""A page that is not true is found: python3 tests/docs/pages_test.py. Needs no build: a shell script is the program."""

import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

import blocks
import output
from pages import Page

PROGRAM = """#!/bin/sh
echo "$*: 3 cases in $(date +%N | cut -c1-3).5 s"
echo second
echo third
exit 4
"""


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "build").mkdir()
        program = self.root / "build" / "ropecheck"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        (self.root / "examples").mkdir()
        (self.root / "examples" / "kernel.c").write_text("#include <math.h>\n\nint apply(void)\n{\n  return 0;\n}\n")

    def page(self, text, limit=20):
        page = Page(self.root / "page.md", self.root)
        page.path.write_text(textwrap.dedent(text))
        return page.run(self.root / "build", [sys.executable], limit)

    def problem_of(self, text, **options):
        problems = self.page(text, **options).problems
        self.assertEqual(len(problems), 1, problems)
        return problems[0]

    def assert_true_page(self, text):
        self.assertEqual(self.page(text).problems, [])

    def test_a_true_page(self):
        self.assert_true_page("""
            ```c from=examples/kernel.c
            int apply(void)
            ```
            ```console
            $ ropecheck verify
            verify: 3 cases in 1.9 s
            ...
            third
            $ echo $?
            4
            $ cd examples; NAME=value
            $ cat kernel.c | head -n 1; echo $NAME
            #include <math.h>
            value
            ```
            - a list

              ```console
              $ printf '  a\\n\\n    b\\n'; echo "$NAME" \\
                   again
                a

                  b
              value again
              ```
            """)

    def test_a_wrong_output(self):
        problem = self.problem_of("""
            # A title

            ```console
            $ ropecheck verify
            verify: 4 cases in 1.9 s
            ...
            ```
            """)
        self.assertIn("page.md, line 5: $ ropecheck verify", problem)
        self.assertIn("    | verify: 4 cases in 1.9 s", problem)
        self.assertRegex(problem, r"    \| verify: 3 cases in \d+.5 s")
        self.assertIn("line 6 of the page is not printed here", problem)

    def test_more_output_than_the_page_shows(self):
        for shown in ("verify: 3 cases in 1 s", "verify: 3 cases in 1 s\nsecond", "...\nsecond"):
            problem = self.problem_of("```console\n$ ropecheck verify\n" + shown + "\n```\n")
            self.assertIn("more than the page shows" if "..." not in shown else "not printed", problem)

    def test_output_that_the_page_leaves_out_between_commands(self):
        problem = self.problem_of("```console\n$ ropecheck verify\n$ echo done\ndone\n```\n")
        self.assertIn("line 2: $ ropecheck verify", problem)

    def test_without_output_the_exit_code_counts(self):
        self.assertIn("exit code 4, expected 0", self.problem_of("```console\n$ ropecheck verify\n```\n"))
        self.assert_true_page("```console\n$ echo word\n```\n")
        self.assert_true_page("```console\n$ ropecheck verify > out.txt\n$ echo $?\n4\n```\n")
        self.assertIn("not printed", self.problem_of("```console\n$ ropecheck verify > out.txt\n$ echo $?\n0\n```\n"))

    def test_a_wrong_excerpt(self):
        for text in ("int apply(int)", "int apply(void)\n  return 0;", "{\n    return 0;\n}", "return 0;\n}"):
            problem = self.problem_of(f"```c from=examples/kernel.c\n{text}\n```\n")
            self.assertIn("line 1: this block does not stand in examples/kernel.c", problem)
        for text in ("int apply(void)\n...\n}", "return 0;", "#include <math.h>\n\nint apply(void)\n// ...\n}"):
            self.assert_true_page(f"```c from=examples/kernel.c\n{text}\n```\n")

    def test_a_missing_file(self):
        self.assertIn("no such file", self.problem_of("```c from=examples/none.c\nint a;\n```\n"))
        self.assertIn("No such file", self.problem_of("```console\n$ cat none.txt\n```\n"))

    def test_a_file_of_the_page(self):
        self.assert_true_page("```json file=a/b.json\n{}\n```\n```console\n$ cat a/b.json\n{}\n```\n")
        for path in ("../b.json", "/tmp/b.json", "examples/b.json"):
            self.assertIn("outside", self.problem_of(f"```json file={path}\n{{}}\n```\n"))

    def test_a_command_that_hangs(self):
        start = time.monotonic()
        problem = self.problem_of("```console\n$ echo begin; sleep 100\n$ echo end\n```\n", limit=0.3)
        self.assertLess(time.monotonic() - start, 20)
        self.assertIn("stopped after 0.3 s", problem)
        self.assertIn("    | begin", problem)

    def test_nothing_runs_on_behind_a_page(self):
        pids = self.root / "pids"
        for command in ("echo $$ > $PIDS; sleep 90", "(trap '' TERM; echo $BASHPID > $PIDS; sleep 90; true) & sleep 0.1"):
            self.page(f"```console\n$ PIDS={pids}\n$ {command}\n```\n", limit=0.5)
            status = Path(f"/proc/{pids.read_text().strip()}/stat")
            self.assertTrue(not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z")

    def test_a_command_that_reads_finds_no_input(self):
        self.assert_true_page("```console\n$ cat; echo end\nend\n```\n")

    def test_a_command_that_ends_the_shell(self):
        self.assertIn("exit code 5", self.problem_of("```console\n$ exit 5\n```\n"))

    def test_what_is_not_there_is_left_out_and_named(self):
        page = self.page("""
            ```console needs=surely_missing
            $ false
            ```
            ```console not-run="needs a GPU"
            $ false
            ```
            ```console needs=json,bash
            $ true
            ```
            """)
        self.assertEqual((page.problems, page.commands), ([], 1))
        self.assertEqual(page.notes, ["page.md, line 2: left out: needs surely_missing",
                                      "page.md, line 5: not run: needs a GPU"])  # fmt: skip

    def test_pages_that_break_the_convention(self):
        for text, words in [
            ("```console\n$ true\n", "has no end"),
            ("```console\noutput\n$ true\n```\n", "output without a command"),
            ("```console\n```\n", "has no command"),
            ("```console need=torch\n$ true\n```\n", "unknown word 'need'"),
            ("```console not-run=\n$ true\n```\n", "needs a value"),
            ("```python not-run=reason\npass\n```\n", "unknown word 'not-run'"),
            ("```bash\ntrue\n```\n", "console block"),
            ('```c from="a\nint a;\n```\n', "No closing quotation"),
        ]:
            with self.subTest(text):
                self.assertIn(words, self.problem_of(text))

    def test_commands_that_nobody_runs(self):
        for text in ("Text:\n\n    ropecheck verify x\n", "Text:\n\n    tools/run verify x\n",
                     "Text:\n```text\n$ true\n```\n"):
            self.assertIn("line 3: this command stands outside", self.problem_of(text))
        self.assert_true_page("Text:\n\n    ropecheck\n```c\n    ropecheck verify\n```\n`ropecheck verify`\n")

    def test_where_digits_differ_only_exit_codes_count(self):
        page = Page(self.root / "page.md", self.root, same_digits=False)
        page.path.write_text("```console\n$ echo a\nb\n```\n```console\n$ false\n```\n")
        page.run(self.root / "build", [sys.executable], 20)
        self.assertEqual(len(page.problems), 1)
        self.assertIn("$ false", page.problems[0])

    def test_the_folder_and_home_are_its_own(self):
        page = self.page("```console\n$ pwd\nx\n$ echo $HOME\nx\n```\n")
        for problem in page.problems:
            self.assertNotIn(str(Path.home()), problem.replace("/tmp", ""))
            self.assertRegex(problem, "ropecheck-page-")

    def test_update_renews_worst_errors_and_counts_but_no_times(self):
        shown = ["  ROT-01  pass  145 cases  worst 0.967 of the bound: f32, pair 57", "...", "  (656 cases, 0.5 s)"]
        found = ["  ROT-01  pass  146 cases  worst 0.97 of the bound: f32, pair 5", "other", "  (656 cases, 0.7 s)"]
        self.assertEqual(output.updated(shown, found), [found[0], "...", shown[2]])

    def test_update(self):
        text = """\
            1. A list

               ```console
               $ ropecheck verify
               verify: 4 cases in 1.9 s
               ...
               thirds
               $ echo $?
               4
               ```
            """
        page = self.page(text)
        page.update()
        updated = page.path.read_text()
        self.assertRegex(updated, r"verify: 3 cases in \d+.5 s\n   \.\.\.\n   third\n   \$ echo")
        self.assertEqual(Page(page.path, self.root).run(self.root / "build", [sys.executable], 20).problems, [])
        page = self.page(updated)
        page.update()
        self.assertEqual(page.path.read_text(), updated)


class Outputs(unittest.TestCase):
    def test_left_out_lines(self):
        found = ["a", "b", "c", "b", "d"]
        for expected in (["..."], ["a", "..."], ["...", "d"], ["a", "...", "d"], ["...", "c", "...", "d"],
                         ["a", "b", "c", "b", "d", ""], ["a", "b", "...", "c", "b", "d"], ["...", "b", "  ...", "b", "d"]):
            self.assertIsNone(output.mismatch(expected, found), expected)
            self.assertIsNone(output.mismatch(expected, [*found, "", ""]), expected)
        for expected, place in ((["a"], 1), (["b", "..."], 0), (["...", "c"], 1), (["a", "...", "c", "d"], 2),
                                (["...", "d", "...", "a", "..."], 3), (["a", "b", "c", "b", "d", "e"], 5), ([], 0)):
            self.assertEqual(output.mismatch(expected, found), place, expected)

    def test_what_changes_from_run_to_run(self):
        for one, other in [("1.9 s", "12.04 s"), ("took   8 ms, 3 calls", "took 12 ms, 3 calls"),
                           ("/tmp/a/b/my.so failed", "/home/you/my.so failed"), ("ropecheck 0.1.0", "ropecheck 0.2.11"),
                           ('"seconds": 0.5,', '"seconds": 1e-05,'), ("process 17 ended", "process 1712 ended"),
                           ('time="0.1"', 'time="2"'), ("on 2026-01-02", "on 2025-11-24T01:02:03Z")]:
            self.assertEqual(output.without_changing(one), output.without_changing(other))

    def test_what_does_not(self):
        for one, other in [("3 cases", "4 cases"), ("worst 0.967 of the bound: f32", "exact"), ("a.so", "b.so"),
                           ("worst 0.967 of the bound: f32, pair 57", "worst 0.968 of the bound: f32, pair 57"),
                           ("worst 0.967 of the bound: f32, pair 57", "worst 0.967 of the bound: f32, pair 1"),
                           ("grade A1, 0.99 of its bound used", "grade A1, 0.98 of its bound used"),
                           ("(47 passed; 656 cases, 0.5 s)", "(47 passed; 657 cases, 0.5 s)"),
                           ("grade A1, 0.99 of its bound used", "grade A2, 0.99 of its bound used"),
                           ("/tmp/a.so", "/tmp/b.so"), ("0x3ee8c7b6", "0x3ee8c7b7"), ("examples/a", "tests/a"),
                           ("  a", "a"), ("./a/b", "./c/b"), ("seed 1 s", "seed 1 t")]:
            self.assertNotEqual(output.without_changing(one), output.without_changing(other))


class Excerpts(unittest.TestCase):
    def test_an_indentation_may_be_left_out_but_not_a_line(self):
        source = ["def f():", "    if x:", "        return 1", "", "    return 2"]
        self.assertTrue(blocks.stands_in(["if x:", "    return 1", "", "return 2"], source))
        self.assertTrue(blocks.stands_in(["def f():", "# ...", "return 2"], source))
        self.assertFalse(blocks.stands_in(["if x:", "return 1"], source))
        self.assertFalse(blocks.stands_in(["return 2", "...", "def f():"], source))


if __name__ == "__main__":
    unittest.main()
