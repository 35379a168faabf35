"""kill.py must be able to fail: each way in which a mutant and the lists can disagree."""

import unittest

import kill

TEXT = "# comment\nA  ROT-01 ANG-02  smoke\nB  ROT-01  bitwise f16\n"
REJECTED, SMOKE, NOT_YET = kill.read_lists(TEXT, "C  no such requirement\n")


class Lists(unittest.TestCase):
    def test_a_line_is_read_as_it_stands(self):
        self.assertEqual(REJECTED, {"A": ["ROT-01", "ANG-02"], "B": ["ROT-01"]})
        self.assertEqual(SMOKE, ["A"])
        demands = ["--require", "bitwise,batch-invariant"]
        self.assertEqual(kill.options_of(TEXT), {"none": demands, "A": [], "B": [*demands, "--dtype", "f16"]})
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

    def test_every_requirement_stands_for_a_mutant(self):
        def problems(requirements):
            return kill.problems_of_lists(["none", "A", "B", "C"], REJECTED, NOT_YET, requirements)

        self.assertEqual(problems(["ROT-01", "ANG-02"]), [])
        self.assertEqual(problems(["ROT-01", "ANG-02", *kill.ELSEWHERE]), [])
        self.assertIn("SPC-01 stands in no line", problems(["ROT-01", "ANG-02", "SPC-01"])[0])
        self.assertIn("ANG-02 in rejected.txt is no requirement", problems(["ROT-01"])[0])


class Verdicts(unittest.TestCase):
    def problem(self, mutant, exit_code, failed, level="quick"):
        return kill.problem_of(mutant, exit_code, failed, REJECTED, NOT_YET, level)

    def test_what_the_lists_say_is_no_problem(self):
        self.assertIsNone(self.problem("A", 1, ["ROT-01", "REL-01", "ANG-02"]))
        self.assertIsNone(self.problem("A", 1, ["REL-01"], "full"))
        self.assertIsNone(self.problem("C", 0, []))
        self.assertIsNone(self.problem("none", 0, []))

    def test_what_they_do_not_say_is_one(self):
        self.assertIn("ANG-02 should reject it; only ROT-01 did", self.problem("A", 1, ["ROT-01"]))
        self.assertIn("ROT-01 should reject it; it conforms", self.problem("B", 0, []))
        self.assertIn("is not rejected", self.problem("A", 0, [], "full"))
        self.assertIn("is rejected now, by ROT-01", self.problem("C", 1, ["ROT-01"]))
        self.assertIn("the right kernel is rejected by ROT-01", self.problem("none", 1, ["ROT-01"]))

    def test_what_passes_at_level_quick_only_has_to_be_rejected_at_level_full(self):
        quick_only = {"D": f"{kill.QUICK_ONLY}, head_dim is too small"}

        def problem(exit_code, failed, level):
            return kill.problem_of("D", exit_code, failed, REJECTED, quick_only, level)

        self.assertIsNone(problem(0, [], "quick"))
        self.assertIsNone(problem(1, ["ROT-01"], "full"))
        self.assertIn("move it to rejected.txt", problem(1, ["ROT-01"], "quick"))
        self.assertIn("passes at level full too", problem(0, [], "full"))

    def test_a_run_without_a_verdict_is_one(self):
        for exit_code, failed in [(3, None), (0, None), (4, []), (1, []), (0, ["ROT-01"]), (-11, None)]:
            self.assertIn("verify gave no verdict", self.problem("A", exit_code, failed))


if __name__ == "__main__":
    unittest.main()
