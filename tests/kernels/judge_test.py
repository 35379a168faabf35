"""Checks that judge.py can fail.

    judge_test.py            each of its parts; without a build
    judge_test.py BUILD      a wrong kernel that is called right, a right one that is called wrong; KILL_MATRIX.md
"""

import contextlib
import io
import json
import sys
import tempfile
import unittest
import unittest.mock
from dataclasses import replace
from pathlib import Path

import judge
from judging import acceptance, diagnosis, kill_matrix, matrix, subjects
from judging.verdicts import Job, Kept, Runner

HERE = Path(__file__).resolve().parent
PARTS = ("manifest", "subjects", "verdicts", "expectations", "acceptance", "diagnosis", "record", "kill_matrix", "costs",
         "minimal")


class InABuild(unittest.TestCase):
    build = None

    @classmethod
    def setUpClass(cls):
        cls.known, _ = subjects.collect(cls.build, with_python=False)
        cls.runner = Runner(cls.build)

    def subject(self, name):
        (found,) = [s for s in self.known if s.name == name]
        return found

    def problems(self, name, **called):
        subject = self.subject(name)
        subject = replace(subject, entry=replace(subject.entry, **called))
        options = ("--no-diagnosis", *(["--only", ",".join(subject.entry.requirements)] if not called["right"] else []))
        judging = acceptance.Acceptance(self.runner, Kept(self.build, fresh=True))
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(judging.run([Job(subject, "quick", options=options)], 1))
        return "\n".join(judging.problems)

    def test_a_wrong_kernel_in_the_place_of_a_right_one_fails_and_can_be_replayed(self):
        text = self.problems("mutants.so#PREC-BF16-POSITIONS", right=True, requirements=())
        self.assertIn("mutants.so#PREC-BF16-POSITIONS: seed 1: is right and rejected by ANG-02", text)
        self.assertIn("ropecheck replay 'ANG-02:", text)

    def test_a_right_kernel_in_the_place_of_a_wrong_one_fails(self):
        text = self.problems("legal_o3.so#f32_tables", right=False, requirements=("ROT-01",))
        self.assertIn("legal_o3.so#f32_tables: ROT-01 should reject it; it conforms", text)

    def test_a_right_kernel_has_no_diagnosis(self):
        (result,) = self.runner.judge([Job(self.subject("mutants.so#none"), "quick", options=("--only", "ROT-01"))])
        self.assertNotIn("candidates", result)

    def test_two_mutants_are_one_kernel(self):
        self.assertFalse(diagnosis.can_be_joined(self.build, "PREC-01+PREC-F16-THETA"))
        pair = diagnosis.joined(self.subject("mutants.so#FREQ-03"), self.subject("mutants.so#POS-FROM-ONE"))
        self.assertTrue(diagnosis.can_be_joined(self.build, pair.kernel))
        job = Job(pair, "quick", options=("--only", "ROT-01"))
        (result,) = self.runner.judge([job], {diagnosis.PAIR: pair.kernel})
        self.assertIn(result["candidates"][0]["class"], ("frequency-base", "position-offset"))

    def test_the_kill_matrix_has_every_kernel_and_every_requirement(self):
        again = f"renew it with `{matrix.AGAIN}`"
        self.assertTrue(kill_matrix.COMMITTED.is_file(), f"{kill_matrix.COMMITTED} is missing; {again}")
        requirements = judge.requirements_of(self.build)
        self.assertTrue(requirements, "`ropecheck list requirements` names none")
        kernels = [s.kernel for s in self.known if s.library == diagnosis.MUTANTS]
        found = matrix.stale(kill_matrix.COMMITTED.read_text(encoding="utf-8"), kernels, requirements)
        self.assertEqual(found, [], f"{kill_matrix.COMMITTED.name} is stale; {again}")


class Command(unittest.TestCase):
    def run_with(self, *words):
        """Returns exit code and stderr."""
        with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
            return judge.main([str(word) for word in words]), err.getvalue()

    def test_what_cannot_be_judged_is_a_mistake_of_usage(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("ropecheck is missing; build it", self.run_with(folder)[1])
            program = Path(folder) / "ropecheck"
            program.touch()
            self.assertEqual(self.run_with(folder)[0], judge.USAGE)
            self.assertIn("mutants.so, legal_*.so", self.run_with(folder)[1])
            self.assertIn("nothing to judge", self.run_with(folder, "--python", "python3", "--smoke", "python")[1])
            code, said = self.run_with(folder, "--python", "python3", "python#none:such")
            self.assertEqual(code, judge.USAGE)
            self.assertIn("python#none:such: no set, library or kernel of that name", said)

    def test_a_record_has_what_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            build, path = Path(folder), Path(folder) / "record.json"
            (build / "ropecheck").write_text("#!/bin/sh\necho said\n")
            (build / "ropecheck").chmod(0o700)
            self.assertEqual(self.run_with(build, "--record", path, "golden/*split", "builtin/complex")[0], 0)
            self.assertEqual(json.loads(path.read_text()), {
                "golden/half_split": {"exit_code": 0, "said": ["said"]}, "builtin/complex": {"exit_code": 0}})
            code, said = self.run_with(build, "--record", path, "golden/none")
            self.assertEqual((code, "nothing of that name is recorded" in said), (judge.USAGE, True))

    def test_a_comparison_says_whether_something_differs(self):
        with tempfile.TemporaryDirectory() as folder:
            one, other = Path(folder) / "one.json", Path(folder) / "other.json"
            one.write_text('{"a": {"fail": []}}')
            other.write_text('{"a": {"fail": ["ROT-01"]}}')
            self.assertEqual([self.run_with("--compare", one, p)[0] for p in (one, other)], [0, 1])

    def test_the_lists_are_looked_at_where_their_libraries_are_judged(self):
        wrong = ["mutants.so: A is wrong", "designs.so: B is wrong"]
        chosen = [subjects.Subject(subjects.SETS["designs"], "designs.so", "paged", None)]
        self.assertEqual(judge.problems_of_lists(Path(), chosen, wrong), wrong[1:])
        chosen = [subjects.Subject(subjects.SETS["mutants"], "mutants.so", "none", None)]
        with unittest.mock.patch.object(judge, "requirements_of", return_value=["NEW-01"]):
            found = judge.problems_of_lists(Path(), chosen, wrong)
        self.assertEqual(found[0], wrong[0])
        self.assertIn("NEW-01 has to reject no kernel", found[1])


def load_tests(loader, standard, pattern):
    if InABuild.build:
        return loader.loadTestsFromTestCase(InABuild)
    parts = [loader.loadTestsFromName(f"judging.{part}_test") for part in PARTS]
    return unittest.TestSuite([*parts, loader.loadTestsFromTestCase(Command)])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        InABuild.build = Path(sys.argv.pop(1)).resolve()
    unittest.main()
