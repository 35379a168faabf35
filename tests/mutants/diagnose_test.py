"""diagnose.py counts what it should; and, given a build folder, a handful of mutants are named rightly.

    diagnose_test.py                 how it counts
    diagnose_test.py BUILD_FOLDER    and what the diagnosis says of a few
"""

import sys
import unittest
from pathlib import Path

import diagnose

CLASSES = {"A": "precision", "B": "backward"}


class Counting(unittest.TestCase):
    def test_the_first_class_alone_decides(self):
        self.assertTrue(diagnose.right("A", [{"class": "precision"}, {"class": "backward"}], CLASSES))
        self.assertFalse(diagnose.right("A", [{"class": "backward"}, {"class": "precision"}], CLASSES))
        self.assertFalse(diagnose.right("A", [], CLASSES))

    def test_of_two_either_is_right(self):
        self.assertTrue(diagnose.right("A+B", [{"class": "backward"}], CLASSES))
        self.assertFalse(diagnose.right("A+B", [{"class": "pipeline"}], CLASSES))

    def test_a_share_of_nothing_is_no_error(self):
        self.assertEqual(diagnose.share([]), "0 of 0 (0.0 %)")
        self.assertEqual(diagnose.share([True, False, True, True]), "3 of 4 (75.0 %)")

    def test_a_pair_runs_what_rejects_either(self):
        rejected = {"A": ["ROT-01", "ANG-02"], "B": ["BWD-01"]}
        self.assertEqual(diagnose.requirements_of("A+B", rejected), ["--only", "ANG-02,BWD-01,ROT-01"])


class Named(unittest.TestCase):
    build = None
    # One of each way to a class: value, condition, crash, answer, accepted fault, earlier call.
    mutants = ("FREQ-03", "BWD-OFFSET", "MEM-PAST-COS", "BWD-03", "ERR-SOURCE", "TAB-01")

    def setUp(self):
        if self.build is None:
            self.skipTest("no build folder given")

    def test_a_handful(self):
        text = (diagnose.HERE / "rejected.txt").read_text()
        rejected, _, _ = diagnose.kill.read_lists(text, "")
        classes = diagnose.classes_of(self.build / "mutants.so")
        for mutant in self.mutants:
            with self.subTest(mutant):
                found, _ = diagnose.judge(self.build, mutant, diagnose.requirements_of(mutant, rejected))
                self.assertEqual([c["class"] for c in found][:1], [classes[mutant]])

    def test_the_right_kernel_has_no_diagnosis(self):
        found, _ = diagnose.judge(self.build, diagnose.kill.RIGHT, ["--only", "ROT-01"])
        self.assertIsNone(found)

    def test_two_mutants_are_one_kernel(self):
        self.assertTrue(diagnose.can_be_joined(self.build, "FREQ-03+POS-FROM-ONE"))
        self.assertFalse(diagnose.can_be_joined(self.build, "PREC-01+PREC-F16-THETA"))
        found, _ = diagnose.judge(self.build, "FREQ-03+POS-FROM-ONE", ["--only", "ROT-01"])
        self.assertIn(found[0]["class"], ("frequency-base", "position-offset"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Named.build = Path(sys.argv.pop(1)).resolve()
    unittest.main()
