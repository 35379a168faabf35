"""A record has all parts of a verdict; recording resumes; a comparison finds every difference."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from judging import manifest, record
from judging.subjects import SETS, Subject
from judging.verdicts import Runner, condensed
from judging.verdicts_test import FAILURE, told


class Records(unittest.TestCase):
    def test_a_record_is_what_a_verdict_is_made_of(self):
        candidates = [{"class": "precision", "sentence": "too short", "condition": "only in k"},
                      {"class": "backward", "sentence": "inverse", "condition": ""}]  # fmt: skip
        diagnosis = {"candidates": candidates, "certain": True}
        notes = [{**FAILURE, "id": "ERR-01", "verdict": "note"}, {"id": "REL-01", "verdict": "not_claimed"}]
        report = told(requirements=[FAILURE, *notes], grades=[{"dtype": "f32", "grade": None}], diagnosis=diagnosis)
        self.assertEqual(record.told(condensed(1, report)), {
            "exit_code": 1, "cases": 2, "fail": ["ROT-01"], "note": ["ERR-01"], "not_claimed": ["REL-01"],
            "grades": {"f32": None}, "classes": ["precision", "backward"],
            "sentence": "too short, only in k", "certain": True})
        self.assertEqual(record.told(condensed(3, None)), {"exit_code": 3})

    def test_everything_has_a_key_and_its_demands(self):
        bits = manifest.read("B wrong ROT-01 bitwise f32")["B"]
        subjects = [Subject(SETS["mutants"], "mutants.so", "B", bits), Subject(SETS["legal"], "legal_o0.so", "B", bits)]
        runner, asked = Runner(Path("build")), []
        runner.run = lambda words, *_: asked.append(words) or (3, "", "")
        work = record.work_of(runner, subjects)
        self.assertEqual(len(work), 2 * len(record.BUILTINS) + 1)
        self.assertEqual(work["mutants.so/B"](), {"exit_code": 3})
        self.assertEqual(asked[0][:4], ["verify", "build/mutants.so#B", "--require", "bitwise,batch-invariant"])
        self.assertNotIn("--dtype", asked[0])

    def test_a_record_resumes(self):
        with tempfile.TemporaryDirectory() as folder:
            path, made = Path(folder) / "r.json", []
            work = {name: lambda name=name: made.append(name) or {"exit_code": 0} for name in "abc"}
            path.write_text('{"b": {"exit_code": 1}}')
            with contextlib.redirect_stdout(io.StringIO()):
                record.record(Runner(Path(folder)), work, path, 1)
            self.assertEqual(made, ["a", "c"])
            self.assertEqual(json.loads(path.read_text())["b"], {"exit_code": 1})
            self.assertEqual(sorted(json.loads(path.read_text())), ["a", "b", "c"])

    def test_each_difference_is_found(self):
        one = {"a": {"fail": []}, "b": {"fail": []}, "c": {"fail": []}}
        other = {"a": {"fail": []}, "b": {"fail": ["ROT-01"]}, "d": {"fail": []}}
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(record.compare(one, other), 3)
            self.assertEqual(record.compare(one, one), 0)
        for line in ("b: fail: [] -> ['ROT-01']", "c: only in the first", "d: only in the second"):
            self.assertIn(line, out.getvalue())


if __name__ == "__main__":
    unittest.main()
