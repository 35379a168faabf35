"""The share of rightly named kernels is counted correctly."""

import contextlib
import io
import unittest
import unittest.mock

from judging import diagnosis, manifest
from judging.subjects import SETS, Subject
from judging.verdicts import condensed
from judging.verdicts_test import FAILURE, told

ENTRIES = manifest.read("A wrong ROT-01 ANG-02\nB wrong BWD-01 bitwise f32\nsome/k precision|backward : Half of it.\n")


def subject(name, described="precision: what it does", of="mutants"):
    return Subject(SETS[of], f"{of}.so", name, ENTRIES[name].described(described))


class AsTold:
    """A runner that returns the given classes of each kernel; None: accepted."""

    def __init__(self, **classes):
        self.classes = classes
        self.jobs = []

    def judge(self, jobs, environment=None):
        self.jobs += jobs
        named = self.classes[jobs[0].subject.kernel.replace("/", "_")]
        if named is None:
            return [condensed(0, told())]
        candidates = [{"class": word, "sentence": "s", "condition": "c", "fit": 1} for word in named]
        return [condensed(1, told(requirements=[FAILURE], diagnosis={"candidates": candidates}))]


def measured(runner, subjects, **how):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        named, problems = diagnosis.measure(runner, subjects, "quick", **how)
    return named, problems, out.getvalue()


class Counting(unittest.TestCase):
    def test_the_first_class_alone_decides(self):
        for named, right in [(["precision", "backward"], True), (["backward", "precision"], False), ([], False)]:
            self.assertEqual(measured(AsTold(A=named), [subject("A")])[0], {"mutants.so#A": right})
        self.assertTrue(diagnosis.is_right(("precision", "backward"), [{"class": "backward"}]))

    def test_a_row_of_the_table_of_bugs_is_called_by_its_words(self):
        def problems(words):
            with unittest.mock.patch.object(diagnosis, "ROWS", {"A"}):
                return measured(AsTold(A=["precision"]), [subject("A", f"precision: {words}")])[1]

        self.assertEqual(problems("s, only in k"), [])
        self.assertIn('not called by its row, "x, only in k", but: s', problems("x, only in k")[0])
        with unittest.mock.patch.object(diagnosis, "CALLED_OTHERWISE", {"A": "why"}):
            self.assertEqual(problems("x"), [])
            self.assertIn("take it out", problems("s")[0])

    def test_of_two_bugs_either_class_is_right(self):
        pair = diagnosis.joined(subject("A"), subject("B", "backward: y"))
        self.assertEqual((pair.kernel, pair.entry.classes), ("A+B", ("precision", "backward")))
        options = diagnosis.options_of(pair.entry)
        self.assertEqual(options, ("--only", "ANG-02,BWD-01,ROT-01", "--require", "bitwise,batch-invariant"))

    def test_what_is_named_wrongly_or_not_at_all_is_told(self):
        self.assertIn("WRONGLY, it is precision", measured(AsTold(A=["backward"]), [subject("A")])[2])
        self.assertIn("NOT NAMED", measured(AsTold(A=[]), [subject("A")])[2])

    def test_a_claim_that_is_not_supported_is_a_name_where_there_is_no_cause(self):
        report = told(requirements=[FAILURE], unsupported={"claims": ["backward"]})
        result = condensed(1, report)
        self.assertFalse(diagnosis.is_named(subject("A"), result))
        backward = subject("A", "backward: claims it and does not have it")
        self.assertTrue(diagnosis.is_named(backward, result))
        self.assertIn("rightly: does not support what it claims: backward", diagnosis.words_of(backward, result))
        caused = condensed(1, {**report, "diagnosis": {"candidates": [{"class": "backward"}]}})
        self.assertFalse(diagnosis.is_named(subject("A"), caused))

    def test_a_wrong_kernel_that_is_accepted_is_a_problem_but_not_in_one_dtype(self):
        named, problems, _ = measured(AsTold(some_k=None), [subject("some/k", of="designs")])
        self.assertEqual((named, len(problems)), ({}, 1))
        self.assertIn("is wrong and conforms", problems[0])
        self.assertEqual(measured(AsTold(A=None), [subject("A")], dtype="bf16")[:2], ({}, []))

    def test_what_level_quick_accepts_is_judged_in_full(self):
        runner = AsTold(some_k=None)
        measured(runner, [subject("some/k", of="designs")])
        self.assertEqual([job.level for job in runner.jobs], ["quick", "full"])

    def test_requirements_are_those_of_the_list_or_all(self):
        self.assertEqual(diagnosis.options_of(ENTRIES["A"]), ("--only", "ANG-02,ROT-01"))
        self.assertEqual(diagnosis.options_of(ENTRIES["A"], whole=True), ())
        self.assertEqual(diagnosis.options_of(ENTRIES["some/k"], dtype="f16"), ("--dtype", "f16"))

    def test_a_share_of_nothing_is_no_error(self):
        self.assertEqual(diagnosis.share([]), "0 of 0 (0.0 %)")
        self.assertEqual(diagnosis.share([True, False, True, True]), "3 of 4 (75.0 %)")


if __name__ == "__main__":
    unittest.main()
