"""kill.py must be able to fail: each way in which a mutant and the lists can disagree."""

import unittest

import kill

REJECTED, SMOKE, NOT_YET = kill.read_lists(
    "# comment\nA  ROT-01 ANG-02  smoke\nB  ROT-01\n", "C  no such requirement\n"
)


class Lists(unittest.TestCase):
    def test_a_line_is_read_as_it_stands(self):
        self.assertEqual(REJECTED, {"A": ["ROT-01", "ANG-02"], "B": ["ROT-01"]})
        self.assertEqual(SMOKE, ["A"])
        self.assertEqual(NOT_YET, {"C": "no such requirement"})

    def test_every_mutant_stands_in_one_list_with_a_requirement_or_a_reason(self):
        self.assertEqual(kill.problems_of_lists(["none", "A", "B", "C"], REJECTED, NOT_YET), [])
        for kernels, rejected, not_yet, words in [
            (["none", "A", "B", "C", "D"], REJECTED, NOT_YET, "D stands in neither list"),
            (["none", "A", "B"], REJECTED, NOT_YET, "C stands in a list and not in mutants.so"),
            (["none", "A", "B", "C"], REJECTED, {"C": "why", "A": "why"}, "A stands in both lists"),
            (["none", "A", "C"], {"A": []}, NOT_YET, "A in rejected.txt names no requirement"),
            (["none", "A", "B", "C"], REJECTED, {"C": ""}, "C in not_yet.txt gives no reason"),
        ]:
            problems = kill.problems_of_lists(kernels, rejected, not_yet)
            self.assertEqual(len(problems), 1, problems)
            self.assertIn(words, problems[0])


class Verdicts(unittest.TestCase):
    def problem(self, mutant, exit_code, failed):
        return kill.problem_of(mutant, exit_code, failed, REJECTED, NOT_YET)

    def test_what_the_lists_say_is_no_problem(self):
        self.assertIsNone(self.problem("A", 1, ["ROT-01", "ROT-02", "ANG-02"]))
        self.assertIsNone(self.problem("C", 0, []))
        self.assertIsNone(self.problem("none", 0, []))

    def test_what_they_do_not_say_is_one(self):
        self.assertIn("ANG-02 should reject it; only ROT-01 did", self.problem("A", 1, ["ROT-01"]))
        self.assertIn("ROT-01 should reject it; it conforms", self.problem("B", 0, []))
        self.assertIn("is rejected now, by ROT-01", self.problem("C", 1, ["ROT-01"]))
        self.assertIn("the right kernel is rejected by ROT-01", self.problem("none", 1, ["ROT-01"]))

    def test_a_run_without_a_verdict_is_one(self):
        for exit_code, failed in [(3, None), (0, None), (4, []), (1, []), (0, ["ROT-01"]), (-11, None)]:
            self.assertIn("verify gave no verdict", self.problem("A", exit_code, failed))


if __name__ == "__main__":
    unittest.main()
