"""Each kernel is judged as often, and at the level, that kernels.txt asks for."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from judging import manifest
from judging.acceptance import Acceptance, hanging_first, jobs_for
from judging.subjects import SETS, Subject
from judging.verdicts import Kept, condensed
from judging.verdicts_test import FAILURE, told

ENTRIES = manifest.read("""right   right  f64=B1 f32=A1 notes=ERR-01
named   wrong  ROT-01
any     wrong
hidden  wrong
""")
SUBJECTS = [Subject(SETS["legal"], "legal_o3.so", "right", ENTRIES["right"], ENTRIES["right"].notes)]
SUBJECTS += [Subject(SETS["mutants"], "mutants.so", name, ENTRIES[name]) for name in ("named", "any", "hidden")]


class AsTold:
    """A runner whose ROT-01 rejects the given kernels: {kernel: lowest level that rejects it}."""

    def __init__(self, **rejected):
        self.rejected = rejected
        self.runs = []  # (level, seed, kernels)
        self.stopped = False

    def judge(self, jobs, environment=None):
        if self.stopped:
            return [None] * len(jobs)
        self.runs.append((jobs[0].level, jobs[0].seed, [job.subject.kernel for job in jobs]))
        results = []
        for job in jobs:
            levels = {"quick": ("quick", "full"), "full": ("full",)}.get(self.rejected.get(job.subject.kernel), ())
            failed = job.level in levels
            results.append(condensed(int(failed), told(requirements=[FAILURE]) if failed else told()))
        return results

    def stop(self):
        self.stopped = True


class Judging(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)

    def judged(self, runner, level="quick", seeds=(1,), fresh=True):
        judging = Acceptance(runner, Kept(self.build, fresh))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            finished = judging.run(jobs_for(SUBJECTS, level, seeds, False), 1)
        self.assertTrue(finished)
        return judging, out.getvalue()

    def test_all_as_the_list_says_is_no_problem(self):
        judging, out = self.judged(AsTold(named="quick", any="quick", hidden="full"))
        self.assertEqual((judging.problems, len(judging.judged), len(out.splitlines())), ([], 4, 4))
        self.assertIn("hidden", [line for line in out.splitlines() if "at level full" in line][0])

    def test_only_what_passes_without_a_named_requirement_is_judged_in_full(self):
        runner = AsTold(named="quick", any="quick", hidden="full")
        self.judged(runner)
        self.assertEqual([run for run in runner.runs if run[0] == "full"], [("full", 1, ["hidden"])])
        self.assertIn(("quick", 1, ["any", "hidden"]), runner.runs)

    def test_what_the_list_does_not_say_is_a_problem(self):
        for kernel, words in [
            ("named", "mutants.so#named: ROT-01 should reject it; it conforms"),
            ("any", "mutants.so#any: is wrong and conforms"),
            ("right", "legal_o3.so#right: seed 1: is right and rejected by ROT-01"),
        ]:
            rejected = {"named": "quick", "any": "quick", "hidden": "full", "right": "quick"}
            rejected = {k: v for k, v in rejected.items() if (k == kernel) == (k == "right")}
            judging, out = self.judged(AsTold(**rejected))
            self.assertTrue(judging.problems[0].startswith(words), judging.problems)
            self.assertEqual(len([p for p in judging.problems if not p.startswith(" ")]), 1, judging.problems)

    def test_right_kernels_are_judged_with_every_seed_and_wrong_ones_with_one(self):
        runner = AsTold(named="quick", any="quick", hidden="full")
        _, out = self.judged(runner, seeds=(4, 5))
        self.assertEqual(sorted(seed for _, seed, kernels in runner.runs if kernels == ["right"]), [4, 5])
        self.assertEqual({seed for _, seed, kernels in runner.runs if "named" in kernels}, {1})
        self.assertIn("accepted, 2 seeds", out)

    def test_kernels_that_hang_are_judged_first(self):
        (waits,) = manifest.read("waits  wrong  STA-03\n").values()
        jobs = jobs_for([*SUBJECTS, Subject(SETS["mutants"], "mutants.so", "waits", waits)], "quick", (1,), False)
        names = [[job.subject.kernel for job in group] for group in hanging_first([[job] for job in jobs])]
        self.assertEqual(names, [["waits"], ["right"], ["named"], ["any"], ["hidden"]])

    def test_what_was_judged_is_not_judged_again(self):
        self.judged(AsTold(named="quick", any="quick", hidden="full"), fresh=False)
        runner = AsTold()
        judging, out = self.judged(runner, fresh=False)
        self.assertEqual((runner.runs, judging.problems, len(out.splitlines())), ([], [], 4))


if __name__ == "__main__":
    unittest.main()
