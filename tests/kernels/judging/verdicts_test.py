"""A report becomes a result, jobs share runs if they may, and results outlive a run."""

import json
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from judging import verdicts
from judging.manifest import Entry
from judging.subjects import PYTHON, SETS, Subject
from judging.verdicts import Job, Kept, Runner, batches, condensed

FAILURE = {"id": "ROT-01", "verdict": "fail", "worst": {"use": "inf"}, "failure": {"message": "m", "replay": "r"}}


def told(**changes):
    """One subject of a report."""
    subject = {
        "conforms": True,
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
    return {**subject, **changes}


def job(kernel, *options, of="mutants"):
    return Job(Subject(SETS[of], f"{of}.so", kernel, Entry(kernel, False)), "quick", options=options)


class Results(unittest.TestCase):
    def test_a_report_becomes_a_result(self):
        result = condensed(0, told())
        self.assertEqual(result["verdicts"]["REL-01"], "not_claimed")
        self.assertEqual((result["failed"], result["noted"]), ([], [["ERR-01", "m", "r"]]))
        self.assertEqual((result["use"], result["where"], result["grades"]["f32"]), (0.75, "ROT-02", "A1"))
        self.assertNotIn("no_verdict", result)

    def test_what_is_no_verdict_says_so(self):
        for exit_code, report in [(3, None), (0, {}), (1, told()), (0, told(requirements=[FAILURE])), (0, told(cases=0)),
                                  (0, told(requirements=[{"id": "ROT-01"}])), (4, told(interrupted=True))]:
            self.assertIn("no_verdict", condensed(exit_code, report))
        self.assertTrue(condensed(3, None, "a\nwhy\n")["no_verdict"].endswith("exit code 3: why"))


class Runs(unittest.TestCase):
    def judged(self, jobs, *answers):
        """Results of Runner.judge if ropecheck gives these (exit code, subjects), and the number of its starts."""
        runner = Runner(Path("build"))
        given = [(exit_code, json.dumps({"subjects": list(subjects)}), "") for exit_code, subjects in answers]
        with unittest.mock.patch.object(runner, "run", side_effect=given) as run:
            return runner.judge(jobs), run.call_count

    def test_several_subjects_are_one_run(self):
        both = [job("A"), job("B")]
        wrong = told(conforms=False, requirements=[FAILURE])
        (first, second), runs = self.judged(both, (1, [told(), wrong]))
        self.assertEqual((runs, first["failed"], [id for id, *_ in second["failed"]]), (1, [], ["ROT-01"]))

    def test_where_one_ends_the_run_each_is_judged_alone(self):
        both = [job("A"), job("B")]
        (first, second), runs = self.judged(both, (3, []), (0, [told()]), (3, []))
        self.assertEqual(runs, 3)
        self.assertNotIn("no_verdict", first)
        self.assertIn("no_verdict", second)
        (_, second), runs = self.judged(both, (4, [told(), told()]), (0, [told()]), (0, [told()]))
        self.assertEqual(runs, 3)  # its exit code contradicts its report

    def test_jobs_of_one_command_that_end_soon_share_a_run(self):
        jobs = [job(str(n), "--fail-fast") for n in range(verdicts.TOGETHER + 1)]
        sizes = [len(batch) for batch in batches([*jobs, job("X", "--fail-fast", "--dtype", "f32"), job("Y")])]
        self.assertEqual(sorted(sizes), [1, 1, 1, verdicts.TOGETHER])
        in_python = Job(Subject(PYTHON, "python", "m:f", Entry("m:f", False)), "quick", options=("--fail-fast",))
        self.assertEqual(batches([in_python, in_python]), [[in_python], [in_python]])

    def test_a_hang_is_no_verdict(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "ropecheck"
            program.write_text("#!/bin/sh\nexec sleep 60\n")
            program.chmod(0o700)
            with unittest.mock.patch.dict(verdicts.TIME_LIMIT, quick=0.2):
                (result,) = Runner(Path(folder)).judge([job("A")])
            self.assertIn("no end within 0.2 s", result["no_verdict"])
            stopped = Runner(Path(folder))
            stopped.stop()
            self.assertEqual(stopped.judge([job("A")]), [None])


class Keeping(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)

    def test_results_are_kept_and_half_a_line_is_no_result(self):
        Kept(self.build).add(job("A"), {"use": 1})
        Kept(self.build).add(job("B"), {"no_verdict": "why"})
        (path,) = self.build.glob("judged/*.jsonl")
        path.write_text(path.read_text() + '["half a li')
        kept = Kept(self.build)
        self.assertEqual((kept.get(job("A")), kept.get(job("B"))), ({"use": 1}, None))
        self.assertIsNone(kept.get(job("A", "--dtype", "f32")))
        self.assertIsNone(Kept(self.build, fresh=True).get(job("A")))

    def test_fresh_results_are_not_kept(self):
        Kept(self.build, fresh=True).add(job("A"), {"use": 1})
        self.assertIsNone(Kept(self.build).get(job("A")))

    def test_after_a_change_of_a_binary_everything_is_judged_again(self):
        for name in ("mutants.so", "ropecheck"):
            Kept(self.build).add(job("A"), {"use": 1})
            self.assertIsNotNone(Kept(self.build).get(job("A")))
            (self.build / name).write_bytes(b"changed")
            self.assertIsNone(Kept(self.build).get(job("A")))


if __name__ == "__main__":
    unittest.main()
