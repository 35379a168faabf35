"""COSTS.md says what a requirement costs and what only it rejects."""

import json
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from judging import costs, kill_matrix, manifest, matrix
from judging.subjects import SETS, Subject
from judging.verdicts import Kept, condensed
from judging.verdicts_test import FAILURE, told


def subject(name, of="mutants", right=False, passes=""):
    return Subject(SETS[of], f"{of}.so", name, manifest.Entry(name, right, passes=passes))


class Told:
    """A runner whose right kernel takes other times in each run, and whose wrong kernels fail ROT-01."""

    def __init__(self, build, exit_code=0):
        self.build = build
        self.exit_code = exit_code
        self.runs = 0
        self.judged = []

    def run(self, words, _limit):
        self.runs += 1
        seconds = {"ROT-01": 0.1 * self.runs, "ANG-01": 0.9}
        report = {"requirements": [{"id": name, "cases": 7, "seconds": taken} for name, taken in seconds.items()]}
        return self.exit_code, json.dumps({"subjects": [report]}), "does not conform"

    def judge(self, jobs):
        self.judged += [job.subject.name for job in jobs]
        return [condensed(1, told(requirements=[FAILURE])) for _ in jobs]


MATRIX = matrix.render(
    [matrix.Mutant(name, "class: it", {"ROT-01": first, "ANG-01": second}, {"X": None})
     for name, first, second in (("none", "pass", "pass"), ("A", "fail", "pass"), ("B", "fail", "fail"))],
    [{"name": "X", "columns": ["X"], "largest_position": 49, "source": "a/b t.py"}])


class Costs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        page = self.build / "KILL_MATRIX.md"
        page.write_text(MATRIX)
        committed = unittest.mock.patch.object(kill_matrix, "COMMITTED", page)
        committed.start()
        self.addCleanup(committed.stop)

    def page(self, runner, known, problems=()):
        with unittest.mock.patch("builtins.print"):
            found = costs.write_page(runner, known, Kept(self.build), self.build / "COSTS.md", 1)
        self.assertEqual(found, list(problems))
        return (self.build / "COSTS.md").read_text() if not problems else None

    def test_the_median_and_the_share_of_each_requirement(self):
        text = self.page(Told(self.build), [subject("none", right=True), subject("A"), subject("c", "designs")])
        self.assertIn("| ANG-01 | 7 | 900 | 75.0 % | 0 | 0 |  |", text)
        self.assertIn("| ROT-01 | 7 | 300 | 25.0 % | 2 | 2 | A, designs#c |", text)
        self.assertLess(text.index("| ANG-01"), text.index("| ROT-01"))  # the costliest first
        self.assertIn("1 requirements reject nothing that no other one rejects. They take 75 % of the time.", text)

    def test_only_it_and_what_no_requirement_rejects(self):
        text = self.page(Told(self.build), [subject("none", right=True), subject("A"), subject("B")])
        self.assertIn("| ROT-01 | 7 | 300 | 25.0 % | 2 | 1 | A |", text)
        self.assertIn("| ANG-01 | 7 | 900 | 75.0 % | 1 | 0 |  |", text)
        self.assertIn("Rejected by no requirement at level quick: none.", text)

    def test_what_level_quick_accepts_is_rejected_by_nothing(self):
        later = subject("A", passes="full")
        text = self.page(Told(self.build), [subject("none", right=True), later, subject("B")])
        self.assertIn("Rejected by no requirement at level quick: A.", text)
        self.assertIn("| ROT-01 | 7 | 300 | 25.0 % | 1 | 0 |  |", text)

    def test_a_mutant_without_a_row_is_a_problem(self):
        known = [subject("none", right=True), subject("N")]
        self.page(Told(self.build), known, ["N has no row in KILL_MATRIX.md"])

    def test_a_right_kernel_that_does_not_conform_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "none has to conform: exit code 1: does not conform"):
            costs.timed(Told(self.build, exit_code=1), subject("none", right=True), "quick")

    def test_right_kernels_and_other_sets_are_left_out(self):
        runner = Told(self.build)
        self.page(runner, [subject("none", right=True), subject("x", "legal"), subject("r", "designs", right=True),
                           subject("w", "designs")])
        self.assertEqual(runner.judged, ["designs.so#w"])


if __name__ == "__main__":
    unittest.main()
