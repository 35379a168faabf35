"""accept.py must be able to fail: each way in which a run and grades.txt can disagree."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

import accept

DECLARED = accept.read_grades("# comment\n*  notes=ERR-01\nexact  f64=B1 f32=A1 notes=DET-02\nloose  f32=C3/B3  # why\n")


def report(**changes):
    subject = {
        "cases": 2,
        "interrupted": False,
        "seconds": 1.5,
        "grades": [{"dtype": "f64", "grade": "B1"}, {"dtype": "f32", "grade": "A1"}],
        "requirements": [
            {"id": "ROT-01", "verdict": "pass", "worst": {"use": 0.5}},
            {"id": "ROT-02", "verdict": "pass", "worst": {"use": 0.75}},
            {"id": "ERR-01", "verdict": "note", "worst": {"use": 0}, "failure": {"message": "m", "replay": "r"}},
            {"id": "REL-01", "verdict": "not_claimed"},
        ],
    }
    return {"subjects": [{**subject, **changes}]}


FAILURE = {"id": "ROT-01", "verdict": "fail", "worst": {"use": "inf"}, "failure": {"message": "m", "replay": "r"}}


class Runs(unittest.TestCase):
    def problems(self, *results, level="full", kernel="exact"):
        summary = accept.Summary()
        for seed, result in enumerate(results, 1):
            summary.add(seed, result)
        return summary, accept.problems_of({("legal_o3.so", kernel): summary}, level, DECLARED, lambda _: True)

    def test_accepted_and_of_its_grade_is_no_problem(self):
        summary, problems = self.problems(accept.condensed(0, report()), accept.condensed(0, report()))
        self.assertEqual(problems, [])
        self.assertEqual((summary.seeds, summary.rejected, summary.use, summary.where), (2, 0, 0.75, "ROT-02"))

    def test_a_rejection_names_requirement_and_replay(self):
        rejected = accept.condensed(1, report(requirements=[FAILURE]))
        summary, problems = self.problems(accept.condensed(0, report()), rejected)
        self.assertEqual(summary.rejected, 1)
        self.assertIn("legal_o3.so#exact, seed 2: rejected by ROT-01: m", problems[0])
        self.assertIn("r", problems[1])

    def test_a_note_is_a_problem_where_it_is_not_declared(self):
        def noted(id):
            return accept.condensed(0, report(requirements=[{**FAILURE, "id": id, "verdict": "note"}]))

        self.assertEqual(self.problems(noted("ERR-01"), noted("DET-02"))[1], [])
        summary, problems = self.problems(noted("DET-01"))
        self.assertEqual((summary.rejected, problems), (0, ["legal_o3.so#exact, seed 1: noted by DET-01: m", "  r"]))

    def test_a_run_without_a_verdict_is_a_problem(self):
        for exit_code, text in [
            (3, None),
            (-11, None),
            (1, report()),
            (0, report(requirements=[FAILURE])),
            (0, report(cases=0)),
            (4, report(interrupted=True)),
        ]:
            self.assertIn("no verdict", self.problems(accept.condensed(exit_code, text))[1][0])

    def test_a_grade_must_be_the_declared_one(self):
        def measured(grade):
            return accept.condensed(0, report(grades=[{"dtype": "f32", "grade": grade}]))

        self.assertIn("f64: measured nothing, declared B1", self.problems(measured("A1"))[1][0])
        for kernel, level, grade, right in [
            ("loose", "full", "C3", True),
            ("loose", "full", "B3", True),
            ("loose", "full", "C2", False),
            ("loose", "full", None, False),
            ("loose", "quick", "A1", True),
            ("loose", "quick", None, False),
            ("unknown", "full", "A1", False),
        ]:
            problems = self.problems(measured(grade), kernel=kernel, level=level)[1]
            self.assertEqual(problems == [], right, (kernel, level, grade, problems))
        for grade in ("B1", "A2"):  # too loose at every level
            for level in ("quick", "full"):
                both = report(grades=[{"dtype": "f64", "grade": "B1"}, {"dtype": "f32", "grade": grade}])
                self.assertIn(f"f32: measured {grade}", self.problems(accept.condensed(0, both), level=level)[1][0])

    def test_the_worst_grade_takes_each_letter_from_the_seed_that_shows_it(self):
        self.assertEqual(accept.worst_grade(["A2", "B1"]), "B2")
        self.assertEqual(accept.worst_grade(["A2", "none"]), "none")


    def test_drawn_claims_may_better_a_grade_but_not_worsen_it(self):
        def problems(grade):
            summary = accept.Summary()
            summary.add(1, accept.condensed(0, report(grades=[{"dtype": "f32", "grade": grade}])))
            return accept.problems_of({("drawn_o3.so", "loose-017"): summary}, "full", DECLARED, lambda _: True)

        self.assertEqual((problems("A1"), problems("C3")), ([], []))
        self.assertIn("measured none, declared C3/B3", problems("none")[0])


class Names(unittest.TestCase):
    LIBRARIES = {"legal_o3.so": ["exact", "ftz"], "legal_o0.so": ["exact"], "drawn_o3.so": ["exact-001", "exact-100"]}

    def test_names_select_libraries_and_kernels(self):
        self.assertEqual(len(accept.choose(self.LIBRARIES, [])), 3)
        self.assertEqual(accept.choose(self.LIBRARIES, ["legal_o0.so"]), [("legal_o0.so", "exact")])
        self.assertEqual(len(accept.choose(self.LIBRARIES, ["exact", "legal_o3.so#exact"])), 2)
        self.assertEqual(accept.choose(self.LIBRARIES, ["drawn_*#*-0??"]), [("drawn_o3.so", "exact-001")])
        with self.assertRaisesRegex(LookupError, "tfz"):
            accept.choose(self.LIBRARIES, ["tfz"])


class Kept(unittest.TestCase):
    def test_in_turn_each_seed_has_another_build_and_three_have_all(self):
        subjects = [(f"legal_{b}.so", k) for b in ("native", "o0", "o3") for k in ("power", "exact")]
        subjects += [(f"builtin_{b}.so", "power") for b in ("native", "o0", "o3")]
        turns = [accept.in_turn(subjects, seed) for seed in (4, 5, 6)]
        for turn in turns:
            self.assertEqual(len(turn), 3)
            self.assertEqual(len({(library.split("_")[0], kernel) for library, kernel in turn}), 3)
        self.assertEqual(sorted(sum(turns, [])), sorted(subjects))

    def test_results_are_kept_and_a_torn_file_is_no_result(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.json"
            accept.Cache(path).add("key", {"use": 1})
            self.assertEqual(accept.Cache(path).results, {"key": {"use": 1}})
            accept.Cache(path).add("other", {"no_verdict": "why"})
            self.assertEqual(accept.Cache(path).results, {"key": {"use": 1}})
            self.assertEqual(accept.Cache(path, fresh=True).results, {})
            path.write_text(json.dumps({"key": {}})[:-1])
            self.assertEqual(accept.Cache(path).results, {})

    def test_a_changed_binary_is_another_one(self):
        with tempfile.TemporaryDirectory() as folder:
            binary = Path(folder) / "binary"
            binary.write_bytes(b"one")
            before = accept.fingerprint([binary])
            binary.write_bytes(b"two")
            self.assertNotEqual(accept.fingerprint([binary]), before)


if __name__ == "__main__":
    sys.exit(unittest.main())
