"""KILL_MATRIX.md says what the verdicts say; and, given a build folder, it is not older than what is in it.

    kill_matrix_test.py                 how it is put together
    kill_matrix_test.py BUILD_FOLDER    whether the committed file has every kernel and every requirement
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import kill
import kill_matrix
import matrix
from matrix import Mutant

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
        self.assertIn("at level full, and by the rope", self.text)
        quick = matrix.render([RIGHT, A], RULES, level="quick")
        self.assertIn("at level quick (full where that rejects it by nothing), and by the rope", " ".join(quick.split()))

    def test_it_is_the_same_each_time(self):
        self.assertEqual(self.text, matrix.render([RIGHT, A, B, UNSEEN], RULES))

    def test_kernels_judged_by_other_requirements_are_refused(self):
        other = Mutant("D", "d", {"ROT-01": "fail"}, dict(A.rules))
        with self.assertRaisesRegex(ValueError, r"D was judged by other requirements than none.*ROT-02"):
            matrix.render([RIGHT, other], RULES)

    def test_an_id_of_another_form_is_refused(self):
        with self.assertRaisesRegex(ValueError, "requirement ROT-1: expected FAMILY-NN"):
            matrix.families(["ROT-1"])


class Runs(unittest.TestCase):
    def test_a_report_becomes_verdicts(self):
        report = '{"subjects": [{"requirements": [{"id": "ROT-01", "verdict": "note", "cases": 3}]}]}'
        self.assertEqual(kill_matrix.verdicts_of(report), {"ROT-01": "note"})
        for text in ("", "[]", '{"subjects": []}', '{"subjects": [{"requirements": [{"id": "ROT-01"}]}]}'):
            with self.assertRaises(ValueError):
                kill_matrix.verdicts_of(text)

    def test_the_class_that_is_named_first_is_read(self):
        candidates = '[{"class": "precision"}, {"class": "backward"}]'
        report = '{"subjects": [{"diagnosis": {"candidates": %s}}]}'
        self.assertEqual(kill_matrix.named_in(report % candidates), "precision")
        self.assertEqual(kill_matrix.named_in(report % "[]"), "")
        self.assertEqual(kill_matrix.named_in('{"subjects": [{}]}'), "")

    def test_the_cache_survives_an_interruption_and_ignores_half_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = kill_matrix.Cache(Path(folder) / "verify-0")
            self.assertIsNone(cache.get("A"))
            cache.put("A", {"ROT-01": "fail"})
            self.assertEqual(kill_matrix.Cache(Path(folder) / "verify-0").get("A"), {"ROT-01": "fail"})
            (Path(folder) / "verify-0" / "B.json").write_text('{"ROT-01": "fa')
            self.assertIsNone(cache.get("B"))

    def test_a_changed_binary_is_another_cache(self):
        with tempfile.TemporaryDirectory() as folder:
            binary = Path(folder) / "ropecheck"
            binary.write_bytes(b"1")
            before = kill_matrix.fingerprint([binary])
            self.assertEqual(before, kill_matrix.fingerprint([binary]))
            binary.write_bytes(b"2")
            self.assertNotEqual(before, kill_matrix.fingerprint([binary]))

    def test_what_level_quick_lets_pass_is_judged_in_full(self):
        def stand_in(command, **_):
            level = command[command.index("--level") + 1]
            failed = level == "full" and not command[2].endswith("#none")
            subject = {"requirements": [{"id": "ROT-01", "verdict": "fail" if failed else "pass"}]}
            return subprocess.CompletedProcess(command, 1 if failed else 0, json.dumps({"subjects": [subject]}), "")

        with unittest.mock.patch.object(kill_matrix.subprocess, "run", stand_in):
            found = [kill_matrix.verify(Path(), *how)["verdicts"]["ROT-01"]
                     for how in (("A", "quick"), ("A", "full"), ("none", "quick"))]
        self.assertEqual(found, ["fail", "fail", "pass"])

    def test_only_what_is_missing_is_judged(self):
        judged = []

        def stand_in(_, kernel, level):
            judged.append(kernel)
            return {"verdicts": {"ROT-01": "pass"}, "named": ""} if kernel != "BAD" else "BAD: exit code 3"

        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(kill_matrix, "verify", stand_in):
            cache = kill_matrix.Cache(Path(folder))
            cache.put("A", {"ROT-01": "fail"})
            problems = kill_matrix.verify_all(Path(), ["A", "BAD", "B"], cache, "full", 2)
            self.assertEqual(sorted(judged), ["B", "BAD"])
            self.assertEqual(problems, ["BAD: exit code 3"])
            self.assertEqual([cache.get(k) is not None for k in ("A", "BAD", "B")], [True, False, True])


def stale(text, kernels, requirements):
    """What a committed file lacks, or has too much."""
    columns, rows = matrix.read_matrix(text)
    found = []
    pending = matrix.pending_in(text)
    found += [f"{name} is not judged yet, and has a row" for name in pending if name in rows]
    for what, present, wanted in (("row", [*rows, *pending], kernels), ("column", columns, requirements)):
        found += [f"no {what} for {name}" for name in wanted if name not in present]
        found += [f"a {what} for {name}, which is no more" for name in present if name not in wanted]
    return found


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


class Committed(unittest.TestCase):
    build = None

    def test_it_has_every_kernel_and_every_requirement(self):
        if self.build is None:
            self.skipTest("no build folder given")
        again = f"regenerate it with `{matrix.AGAIN}`"
        self.assertTrue(kill_matrix.COMMITTED.is_file(), f"{kill_matrix.COMMITTED} is missing; {again}")
        listed = subprocess.run(
            [self.build / "ropecheck", "list", "requirements"], capture_output=True, text=True, check=True
        ).stdout
        requirements = re.findall(r"^([A-Z]+-\d\d) ", listed, re.MULTILINE)
        self.assertTrue(requirements, "`ropecheck list requirements` names none; the pattern above has to be changed")
        kernels = kill.Library(self.build / "mutants.so").kernels
        found = stale(kill_matrix.COMMITTED.read_text(encoding="utf-8"), kernels, requirements)
        self.assertEqual(found, [], f"{kill_matrix.COMMITTED.name} is stale; {again}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Committed.build = Path(sys.argv.pop(1)).resolve()
    unittest.main()
