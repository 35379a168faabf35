"""KILL_MATRIX.md agrees with the verdicts, and a page older than its kernels or requirements is noticed."""

import tempfile
import unittest
import unittest.mock
from pathlib import Path

from judging import kill_matrix, manifest, matrix
from judging.matrix import Mutant, stale
from judging.subjects import SETS, Subject
from judging.verdicts import Kept, condensed
from judging.verdicts_test import FAILURE, told

RULES = [{"name": "X", "columns": ["X f32", "X f16"], "largest_position": 49, "source": "a/b t.py"}]
VERDICTS = ["fail", "pass", "not_claimed", "note"]


def mutant(name, verdicts, rules=(None, None), named=""):
    requirements = dict(zip(["ROT-01", "ROT-02", "ANG-01", "ERR-01"], verdicts))
    return Mutant(name, f"class: {name} does it", requirements, dict(zip(RULES[0]["columns"], rules)), named)


RIGHT = mutant("none", ["pass"] * 4)
A = mutant("A", ["fail", "fail", "not_claimed", "note"], ("too far off", None), "class")
B = mutant("B-LONG", ["pass", "fail", "pass", "pass"], ("crashes", "crashes"), "another")
UNSEEN = mutant("C", ["note", "pass", "pass", "not_claimed"])


class Rendering(unittest.TestCase):
    def setUp(self):
        self.text = matrix.render([RIGHT, A, B, UNSEEN], RULES)

    def test_the_matrix_reads_back_as_it_was(self):
        requirements, rows = matrix.read_matrix(self.text)
        self.assertEqual(requirements, ["ROT-01", "ROT-02", "ANG-01", "ERR-01"])
        self.assertEqual(rows["none"], ([], [], []))
        self.assertEqual(rows["A"], (["ROT-01", "ROT-02"], ["ANG-01"], ["a"]))
        self.assertEqual(rows["B-LONG"], (["ROT-02"], [], ["a", "b"]))
        self.assertEqual(rows["C"], ([], ["ERR-01"], []))
        self.assertEqual(len(rows), 4)

    def test_only_fail_rejects(self):
        self.assertEqual([matrix.symbol(verdict) for verdict in VERDICTS], ["●", " ", "·", " "])
        self.assertEqual(UNSEEN.failed(), [])

    def test_a_row_names_the_first_requirement(self):
        self.assertIn("| A | class: A does it | ROT-01 | class | 2 | 1 of 2 |", self.text)
        self.assertIn("| B-LONG | class: B-LONG does it | ROT-02 | **another** | 1 | 2 of 2 |", self.text)
        self.assertIn("| C | class: C does it | none | **none** | 0 | 0 of 2 |", self.text)

    def test_totals_leave_out_the_right_kernel(self):
        self.assertIn("| ROT-01 | 1 | 0 |  |", self.text)
        self.assertIn("| ROT-02 | 2 | 1 | B-LONG |", self.text)
        self.assertIn("| ERR-01 | 0 | 0 |  |", self.text)
        self.assertIn("| a | X f32 | 2 | 1 | 49 | a/b t.py |", self.text)
        self.assertIn("| b | X f16 | 1 | 2 | 49 | a/b t.py |", self.text)
        self.assertIn("Rejected by no requirement: C.", self.text)
        self.assertIn("Accepted by every published rule: 1; rejected by every one: 1.", self.text)

    def test_the_share_of_right_classes_is_told(self):
        self.assertIn("names first is the right one for 1 of 3 (33.3 %).", self.text)

    def test_the_level_is_told(self):
        self.assertIn("at level full. The rope tests", self.text)
        self.assertIn("--kill-matrix --level full`", self.text)
        quick = matrix.render([RIGHT, A], RULES, level="quick")
        self.assertNotIn("--level", quick.split("not to be edited")[0])
        self.assertIn("at level quick (at level full if quick accepts it). The rope tests", " ".join(quick.split()))

    def test_it_is_the_same_each_time(self):
        self.assertEqual(self.text, matrix.render([RIGHT, A, B, UNSEEN], RULES))

    def test_kernels_judged_by_other_requirements_are_refused(self):
        other = Mutant("D", "d", {"ROT-01": "fail"}, dict(A.rules))
        with self.assertRaisesRegex(ValueError, r"D was judged by other requirements than none.*ROT-02"):
            matrix.render([RIGHT, other], RULES)

    def test_an_id_of_another_form_is_refused(self):
        with self.assertRaisesRegex(ValueError, "requirement ROT-1: expected FAMILY-NN"):
            matrix.families(["ROT-1"])


class AsTold:
    """A runner that rejects wrong kernels at level full, and none at quick."""

    def __init__(self, build, without_verdict=()):
        self.build = build
        self.without_verdict = without_verdict
        self.judged = []

    def judge(self, jobs):
        (job,) = jobs
        self.judged.append((job.subject.kernel, job.level))
        if job.subject.kernel in self.without_verdict:
            return [condensed(3, None)]
        failed = job.level == "full" and not job.subject.entry.right
        candidates = [{"class": "precision"}, {"class": "backward"}]
        report = told(requirements=[FAILURE], diagnosis={"candidates": candidates}) if failed else told()
        return [condensed(int(failed), report)]


def subject(name, right=False):
    return Subject(SETS["mutants"], "mutants.so", name, manifest.Entry(name, right))


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        self.kept = Kept(self.build)

    def verified(self, runner, *subjects, level="quick"):
        with unittest.mock.patch("builtins.print"):
            return kill_matrix.verify_all(runner, subjects, level, self.kept, 1)

    def test_what_level_quick_lets_pass_is_judged_in_full(self):
        runner = AsTold(self.build)
        results, problems = self.verified(runner, subject("none", right=True), subject("A"))
        self.assertEqual(runner.judged, [("none", "quick"), ("A", "quick"), ("A", "full")])
        self.assertEqual((results["none"]["failed"], problems), ([], []))
        self.assertEqual(results["A"]["verdicts"], {"ROT-01": "fail"})
        self.assertEqual([kill_matrix.named_in(results[name]) for name in ("A", "none")], ["precision", ""])

    def test_only_what_is_missing_is_judged(self):
        self.verified(AsTold(self.build), subject("A"), level="full")
        runner = AsTold(self.build, without_verdict=["BAD"])
        results, problems = self.verified(runner, *map(subject, ("A", "BAD", "B")), level="full")
        self.assertEqual(runner.judged, [("BAD", "full"), ("B", "full")])
        self.assertEqual((list(results), len(problems)), (["A", "B"], 1))
        self.assertIn("BAD: verify gave no verdict: exit code 3", problems[0])

    def test_published_verdicts_survive_an_interruption_and_half_a_file_is_none(self):
        kept = kill_matrix.PublishedVerdicts(self.build / "published-0")
        self.assertIsNone(kept.get("A"))
        kept.put("A", {"verdicts": {}})
        self.assertEqual(kill_matrix.PublishedVerdicts(self.build / "published-0").get("A"), {"verdicts": {}})
        (self.build / "published-0" / "B.json").write_text('{"verdicts": {')
        self.assertIsNone(kept.get("B"))


class Staleness(unittest.TestCase):
    def test_each_kind_is_seen(self):
        text = matrix.render([RIGHT, A], RULES)
        ids = list(A.requirements)
        self.assertEqual(stale(text, ["none", "A"], ids), [])
        self.assertEqual(stale(text, ["none", "A", "N"], ids), ["no row for N"])
        self.assertEqual(stale(text, ["none"], ids), ["a row for A, which is no more"])
        later = matrix.render([RIGHT, A], RULES, pending=["N", "M"])
        self.assertEqual(stale(later, ["none", "A", "M", "N"], ids), [])
        self.assertEqual(stale(later, ["none", "A", "N"], ids), ["a row for M, which is no more"])
        self.assertEqual(stale(text, ["none", "A"], [*ids, "MEM-01"]), ["no column for MEM-01"])
        self.assertEqual(stale(text, ["none", "A"], ids[:-1]), ["a column for ERR-01, which is no more"])


if __name__ == "__main__":
    unittest.main()
