"""Every disagreement between a verdict and kernels.txt is a problem, and nothing else is."""

import unittest

from judging import expectations, manifest
from judging.subjects import SETS, Subject
from judging.verdicts import condensed
from judging.verdicts_test import FAILURE, told

ENTRIES = manifest.read("""*      right  notes=ERR-01
exact  right  f64=B1 f32=A1 notes=DET-02
loose  right  f32=C3/B3
A      wrong  ROT-01 ANG-02
ANY    pairing-layout  : Half-split: always.
LONG   wrong  full : too few tokens
NEVER  wrong  unseen : no requirement looks there
""")


def rejected_by(*requirements):
    return condensed(1 if requirements else 0, told(requirements=[{**FAILURE, "id": id} for id in requirements]))


class Wrong(unittest.TestCase):
    def problem(self, name, *requirements, level="quick"):
        return expectations.problem_of_wrong(ENTRIES[name], level, rejected_by(*requirements))

    def test_what_the_list_says_is_no_problem(self):
        self.assertIsNone(self.problem("A", "ROT-01", "REL-01", "ANG-02"))
        self.assertIsNone(self.problem("A", "REL-01", level="full"))
        self.assertIsNone(self.problem("ANY", "POS-01"))
        self.assertIsNone(self.problem("LONG"))
        self.assertIsNone(self.problem("LONG", "ROT-01", level="full"))
        self.assertIsNone(self.problem("NEVER", level="full"))

    def test_what_it_does_not_say_is_one(self):
        for words, found in [
            ("ANG-02 should reject it; only ROT-01 did", self.problem("A", "ROT-01")),
            ("ROT-01, ANG-02 should reject it; it conforms", self.problem("A")),
            ("is wrong and conforms", self.problem("A", level="full")),
            ("is wrong and conforms: Half-split: always.", self.problem("ANY")),
            ("is rejected at level quick now, by ROT-01", self.problem("LONG", "ROT-01")),
            ("passes at level full too", self.problem("LONG", level="full")),
            ("is rejected now, by ROT-01", self.problem("NEVER", "ROT-01", level="full")),
            ("is rejected now, by ROT-01", self.problem("NEVER", "ROT-01")),
        ]:
            self.assertIn(words, found or "no problem")

    def test_a_run_without_a_verdict_is_one(self):
        for exit_code, report in [(3, None), (-11, None), (1, told()), (0, told(requirements=[FAILURE]))]:
            for name in ("A", "ANY", "LONG", "NEVER"):
                found = expectations.problem_of_wrong(ENTRIES[name], "quick", condensed(exit_code, report))
                self.assertIn("verify gave no verdict", found)

    def test_level_full_is_asked_only_where_nothing_else_is_said(self):
        def asked(name, *requirements, level="quick"):
            return expectations.is_to_be_judged_in_full(ENTRIES[name], level, rejected_by(*requirements))

        self.assertTrue(asked("ANY"))
        self.assertFalse(asked("ANY", "ROT-01") or asked("ANY", level="full"))
        self.assertFalse(asked("A") or asked("LONG") or asked("exact"))

    def test_verify_is_told_what_the_list_names(self):
        self.assertEqual(expectations.options_of(ENTRIES["A"], "quick"), ("--no-diagnosis", "--only", "ROT-01,ANG-02"))
        self.assertEqual(expectations.options_of(ENTRIES["A"], "full"), ("--no-diagnosis", "--fail-fast"))
        self.assertEqual(expectations.options_of(ENTRIES["ANY"], "quick"), ("--no-diagnosis", "--fail-fast"))
        self.assertEqual(expectations.options_of(ENTRIES["LONG"], "quick"), ("--no-diagnosis",))


class Right(unittest.TestCase):
    def summary(self, *results, kernel="exact", of="legal"):
        name = kernel.rpartition("-")[0] or kernel
        notes = ENTRIES[name].notes | ENTRIES["*"].notes
        summary = expectations.Summary(Subject(SETS[of], f"{of}_o3.so", kernel, ENTRIES[name], notes))
        for seed, result in enumerate(results, 1):
            summary.add(seed, result)
        return summary

    def problems(self, *results, level="full", **how):
        return list(self.summary(*results, **how).problems(level))

    def test_accepted_and_of_its_grade_is_no_problem(self):
        summary = self.summary(condensed(0, told()), condensed(0, told()))
        self.assertEqual(list(summary.problems("full")), [])
        self.assertEqual((summary.seeds, summary.use, summary.where), (2, 0.75, "ROT-02"))
        self.assertEqual(summary.words(), "accepted, 2 seeds, f64 B1 f32 A1, 0.750 of a bound used (ROT-02)")

    def test_a_rejection_names_requirement_and_replay(self):
        problems = self.problems(condensed(0, told()), condensed(1, told(requirements=[FAILURE])))
        self.assertIn("seed 2: is right and rejected by ROT-01: m", problems[0])
        self.assertEqual(problems[1], "  r")

    def test_a_note_is_a_problem_where_it_is_not_declared(self):
        def noted(id):
            return condensed(0, told(requirements=[{**FAILURE, "id": id, "verdict": "note"}]))

        self.assertEqual(self.problems(noted("ERR-01"), noted("DET-02")), [])
        self.assertEqual(self.problems(noted("DET-01")), ["seed 1: noted by DET-01: m", "  r"])

    def test_a_run_without_a_verdict_is_a_problem(self):
        for exit_code, report in [
            (3, None),
            (-11, None),
            (1, told()),
            (0, told(requirements=[FAILURE])),
            (0, told(cases=0)),
            (4, told(interrupted=True)),
        ]:
            self.assertIn("no verdict", self.problems(condensed(exit_code, report))[0])

    def test_a_grade_must_be_the_declared_one(self):
        def measured(grade):
            return condensed(0, told(grades=[{"dtype": "f32", "grade": grade}]))

        self.assertIn("f64: measured nothing, declared B1", self.problems(measured("A1"))[0])
        for level, grade, right in [
            ("full", "C3", True),
            ("full", "B3", True),
            ("full", "C2", False),
            ("full", None, False),
            ("quick", "A1", True),
            ("quick", None, False),
        ]:
            problems = self.problems(measured(grade), kernel="loose", level=level)
            self.assertEqual(problems == [], right, (level, grade, problems))
        for grade in ("B1", "A2"):  # too loose at every level
            for level in ("quick", "full"):
                both = told(grades=[{"dtype": "f64", "grade": "B1"}, {"dtype": "f32", "grade": grade}])
                self.assertIn(f"f32: measured {grade}", self.problems(condensed(0, both), level=level)[0])

    def test_the_worst_grade_takes_each_letter_from_the_seed_that_shows_it(self):
        self.assertEqual(expectations.worst_grade(["A2", "B1"]), "B2")
        self.assertEqual(expectations.worst_grade(["A2", "none"]), "none")

    def test_drawn_claims_may_better_a_grade_but_not_worsen_it(self):
        def problems(grade):
            result = condensed(0, told(grades=[{"dtype": "f32", "grade": grade}]))
            return self.problems(result, kernel="loose-017", of="drawn")

        self.assertEqual((problems("A1"), problems("C3")), ([], []))
        self.assertIn("measured none, declared C3/B3", problems("none")[0])

    def test_grades_are_asked_only_of_sets_that_declare_them(self):
        self.assertEqual(self.problems(condensed(0, told()), kernel="loose", of="designs"), [])


if __name__ == "__main__":
    unittest.main()
