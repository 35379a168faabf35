"""ropecheck.verify and the related functions from Python: python3 api_test.py BUILD. Exit code 77: numpy is missing."""

import dataclasses
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from html import unescape
from pathlib import Path
from unittest import mock

import running

if __name__ == "__main__":
    running.use(sys.argv.pop(1))
try:
    import numpy as np  # noqa: F401
except ImportError:
    print("numpy is missing: pip install numpy")
    sys.exit(77)

import kernels  # noqa: E402
import ropecheck  # noqa: E402

SMALL = {"spec": {"head_dim": 8}, "diagnosis": False}
HERE = Path(__file__).resolve().parent


def one(kernel, **more):
    return ropecheck.verify(kernel, **{**SMALL, "only": "ROT-01", **more})


class Reports(unittest.TestCase):
    def test_a_right_kernel(self):
        report = ropecheck.verify(kernels.right, **SMALL, only=["ROT", "MEM-01"], seed=7, jobs=2)
        self.assertTrue(report.conforms and report and report.isolated)
        self.assertEqual(report.failures, ())
        self.assertEqual((report.seed, report.level, report.subject), (7, "quick", "python:kernels:right"))
        self.assertEqual({each.dtype for each in report.grades}, {"f64", "f32", "f16"})
        self.assertTrue(0 < report["ROT-01"].worst_use <= 1)
        self.assertIn("python:kernels:right: conforms", str(report))
        self.assertIn("in a process of its own", str(report))

    def test_a_wrong_kernel(self):
        report = one(kernels.wrong_values)
        self.assertFalse(report.conforms or report)
        (failed,) = report.failures
        self.assertEqual((failed.id, failed.force, failed.failure.kind), ("ROT-01", "MUST", "value"))
        element = failed.failure.element
        self.assertEqual((element.feature, element.pair, element.dtype), (0, 0, "f32"))
        self.assertGreater(element.error, element.bound)
        self.assertIn("import numpy", failed.failure.numpy)
        self.assertFalse(ropecheck.replay(kernels.wrong_values, failed.failure.case))
        self.assertTrue(ropecheck.replay(kernels.writes_outputs, failed.failure.case))

    def test_for_notebooks(self):
        report = one(kernels.turns_backwards, diagnosis=True)
        self.assertIn("ROT-01", report._repr_markdown_())
        sentence = report.diagnosis["candidates"][0]["sentence"]
        self.assertIn("sin is negated", sentence)
        page = report.to_html()
        self.assertTrue(page.startswith("<!doctype html>"))
        self.assertIn(f">{sentence}</p>", page)
        self.assertIn("python:kernels:turns_backwards", page)
        self.assertIn("does not conform", page)
        html = report._repr_html_()
        self.assertTrue(html.startswith('<iframe title="python:kernels:turns_backwards: does not conform" srcdoc="&lt;!doc'))
        self.assertEqual(unescape(re.search('srcdoc="([^"]*)"', html)[1]), page)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(report.to_html(Path(folder) / "report.html"), page)
            self.assertEqual((Path(folder) / "report.html").read_text(encoding="utf-8"), page)

    def test_a_page_has_pictures_of_a_kernel_in_this_process(self):
        report = one(lambda call: kernels.wrong_values(call), isolate=False)
        self.assertIn("aria-label=\"Error by pair and position in f32.", report.to_html())
        self.assertNotIn("cmd:", report.to_html())
        curve = ropecheck.verify(kernels.right, only="REL-01", spec={"head_dim": 8}).horizons[0].curve
        self.assertGreater(len(curve), 1)
        self.assertLess(curve[0][0], curve[1][0])

    def test_a_kernels_words_are_escaped_in_notebooks(self):
        def raises(call):
            raise ValueError("<script>")

        self.assertIn("<script>", str(report := one(raises, diagnosis=True)))
        self.assertEqual(report.to_html().count("<script"), 2)  # the report for programs, and the copy buttons
        self.assertIn("&lt;script&gt;", report.to_html())
        self.assertNotIn("<script>", report._repr_html_())
        self.assertNotIn("<script>", ropecheck.replay(raises, report["ROT-01"].failure.case)._repr_html_())

    def test_what_a_person_sees_at_the_prompt(self):
        report = one(kernels.turns_backwards, diagnosis=True)
        (failed,) = report.failures
        case = failed.failure.case
        sentence = report.diagnosis["candidates"][0]["sentence"]
        right = one(kernels.right)
        for value, begins, holds in [
            (report, f"<Report ROT-01: {sentence}; {failed.found}. ", "turns_backwards: does not conform; 1 of 1 "),
            (right, "<Report python:kernels:right: conforms; 0 of 1 ", "grade A1 in f32"),
            (failed, f"<Requirement ROT-01: {failed.found}; fail in {failed.failed} of ", "of the bound"),
            (right["ROT-01"], "<Requirement ROT-01: pass; ", " cases; worst 0."),
            (failed.failure, "<Failure value: ", case),
            (failed.failure.element, f"<Element {failed.failure.element.place}, feature ", "bound "),
            (ropecheck.replay(kernels.right, case), "<Replay passed: ", case),
            (ropecheck.identify(kernels.right, spec={"head_dim": 8}), "<Identification python:kernels:right: ",
             "--base 10000; as requested"),
            (plans := ropecheck.identify(kernels.wrong_values, spec={"head_dim": 8}), "<Identification ", "differs from"),
            (plans.plans[0], "<Plan ", "differs from the request: "),
            (ropecheck.capabilities_of(kernels.F32(lambda call: None)), "Capabilities(dtypes=", "'in_place')"),
            (ropecheck.capabilities_of(len), "Capabilities()", ""),
        ]:
            with self.subTest(begins):
                self.assertTrue(repr(value).startswith(begins), repr(value))
                self.assertIn(holds, repr(value))
                self.assertLess(len(repr(value)), 250)
                self.assertNotIn("\n", repr(value))

    def test_a_call_at_the_prompt(self):
        seen = []

        def sees(call):
            seen.append(repr(call))
            return kernels.right(call)

        one(kernels.F32(sees), only="MEM-04")
        in_place = ", float32, half_split, rotary_dim 8, forward, angles from tables, in place>"
        self.assertTrue(any(one.endswith(in_place) for one in seen), seen[:3])
        self.assertTrue(seen[0].startswith("<Call q ("))

    def test_the_repr_of_a_diagnosis_is_one_line(self):
        report = one(kernels.turns_backwards, diagnosis=True)
        self.assertEqual(repr(report.diagnosis), f"<Diagnosis {report.diagnosed}>")
        self.assertIn("sin is negated", repr(report.diagnosis))

    def test_the_kernels_own_words_come_before_a_guess(self):
        report = one(kernels.raises, diagnosis=True)
        said = "ROT-01: raised ValueError: no more than one token, not 2"
        self.assertEqual(report.headline.count("no more than one token"), 1)
        guess = {**report.diagnosis, "certain": False}
        guess["candidates"] = [{**guess["candidates"][0], "sentence": "a step is missing", "condition": ""}]
        guessed = dataclasses.replace(report, diagnosis=type(report.diagnosis)(guess))
        self.assertEqual(guessed.headline, f"{said}; most likely a step is missing")

    def test_what_the_diagnosis_repeats_is_said_once(self):
        report = one(kernels.unsupported, diagnosis=True)
        self.assertEqual(report.headline.count(report["ROT-01"].found), 1)

    def test_a_picture(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("matplotlib is missing")
        matplotlib.use("agg")
        axes = ropecheck.verify(kernels.writes_outputs, **SMALL, only="ROT").plot()
        self.assertEqual(len(axes.patches), len(axes.get_yticks()))
        self.assertTrue(all(bar.get_width() <= 1 for bar in axes.patches))

    def test_identify(self):
        plan = ropecheck.identify(kernels.right, spec={"head_dim": 8, "base": 500}, pairing=None)
        self.assertEqual(len(plan.plans), 1)
        self.assertIn("base 500", str(plan))


class InACheckout(unittest.TestCase):
    """wheel_test.py asks the same of an installed package."""

    def test_files_that_messages_name(self):
        self.assertEqual(Path(ropecheck.get_include()), running.ROOT / "impls" / "include")
        self.assertEqual(ropecheck.get_path("golden"), running.ROOT / "golden")
        with self.assertRaisesRegex(ropecheck.UsageError, f"docs/nothing.md is not there; looked in {running.ROOT}$"):
            ropecheck.get_path("docs/nothing.md")

    def test_the_version(self):
        self.assertEqual(f"{ropecheck.__version__}\n", running.ropecheck("--version").stdout)


class Program(unittest.TestCase):
    """Where the program is looked for, if the package was installed without it."""

    def test_path_is_searched_but_for_the_packages_own_script(self):
        from ropecheck import program

        real = os.environ["ROPECHECK_PROGRAM"]
        with tempfile.TemporaryDirectory() as name:
            script, there = Path(name, "script"), Path(name, "program")
            for folder in (script, there):
                folder.mkdir()
            (script / "ropecheck").write_text("#!/bin/sh\n")
            (script / "ropecheck").chmod(0o755)
            (there / "ropecheck").symlink_to(real)
            variables = {"PATH": f"{script}{os.pathsep}{there}", "ROPECHECK_PROGRAM": ""}
            with mock.patch.dict(os.environ, variables), mock.patch.object(program, "PACKAGE", Path(name)):
                self.assertEqual(program.path(), there / "ropecheck")
                (there / "ropecheck").unlink()
                with self.assertRaisesRegex(ropecheck.RopecheckError, "looked in .* and in PATH; install the wheel"):
                    program.path()


class TheWayTaken(unittest.TestCase):
    def test_a_lambda_runs_here(self):
        report = one(lambda call: kernels.right(call))
        self.assertFalse(report.isolated)
        self.assertIn("in the caller's process", str(report))

    def test_a_built_in(self):
        report = one("half_split")
        self.assertTrue(report.conforms)
        self.assertIn("is part of the program and ran in it", str(report))

    def test_both_ways_say_the_same(self):
        isolated, here = (ropecheck.verify(kernels.right, **SMALL, only="ROT,POS,MEM", isolate=way)
                          for way in (True, False))
        self.assertEqual([isolated.isolated, here.isolated], [True, False])
        for one, other in zip(isolated.requirements, here.requirements):
            self.assertEqual((one.id, one.verdict, one.cases, one.worst_use),
                             (other.id, other.verdict, other.cases, other.worst_use))

    def test_findings_here(self):
        for kernel, words in [("writes_input", "wrote to the input q at [0, 0, 0, 0]"),
                              ("returns_input", "returned q as a view of its input q"),
                              ("raises", "raised ValueError: no more than one token"),
                              ("one_too_far", "wrote beside a tensor: q_out at element "),
                              ("exits", "raised SystemExit: 5")]:
            with self.subTest(kernel):
                failure = one(getattr(kernels, kernel), isolate=False)["ROT-01"].failure
                self.assertIn(words, failure.message)
                self.assertIn(f"ropecheck.replay({kernel}, 'ROT-01:", failure.replay)

    def test_one_element_before_the_start_here(self):
        report = one(kernels.one_before, isolate=False, only="MEM-01")
        self.assertRegex(report["MEM-01"].failure.message,
                         "wrote beside a tensor: q_out at element -1|wrote 1 element before the start of q_out")

    def test_a_kernel_that_hangs_here_is_interrupted(self):
        began = time.monotonic()
        report = one(kernels.spins, isolate=False, deadline=0.2, first_deadline=1)
        self.assertLess(time.monotonic() - began, 100)  # the relay sleeps meanwhile, and may do so for two minutes
        self.assertEqual(report["ROT-01"].failure.kind, "timeout")
        self.assertTrue(one(kernels.writes_outputs, isolate=False))

    def test_in_a_process_with_many_open_files(self):
        import resource
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        if limits[1] != resource.RLIM_INFINITY and limits[1] < 2000:
            self.skipTest("no more files may be opened here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (2000, limits[1]))
        held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
        try:
            self.assertTrue(one(kernels.writes_outputs, isolate=False))
        finally:
            for file in held:
                os.close(file)
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    def test_in_another_thread(self):
        reports = []
        thread = threading.Thread(target=lambda: reports.append(one(lambda call: kernels.right(call))))
        thread.start()
        thread.join()
        self.assertTrue(reports[0].conforms)

    def test_an_array_that_was_kept_is_no_trap(self):
        kept = []

        def keeps(call):
            kept.append(call.q)
            return kernels.right(call)

        one(keeps)
        self.assertTrue(kept)
        for array in kept:
            array.sum()

    def test_another_process_that_cannot_import_it(self):
        with self.assertRaisesRegex(ropecheck.UsageError, "cannot import the kernel: it is defined in __main__"):
            one(lambda call: None, isolate=True)


class Refusals(unittest.TestCase):
    def refused(self, error, words, subject, **more):
        with self.assertRaisesRegex(error, words):
            ropecheck.verify(subject, **more)

    def test_what_the_command_does_not_take(self):
        self.refused(ropecheck.UsageError, "a int is not a kernel", 3)
        self.refused(ropecheck.UsageError, '--level: "slow"', "half_split", level="slow")
        self.refused(ropecheck.UsageError, "rotary_dim is 7; it must be even", kernels.right, spec={"head_dim": 7})
        self.refused(ropecheck.SubjectError, "module kernels has no rigth; it has right", "kernels:rigth")
        self.refused(ropecheck.SubjectError, '"hugginface" is not known; did you mean huggingface', kernels.right,
                     convention="hugginface")

    def test_words_of_the_decorator(self):
        for words, wrong in [('dtypes=...\\): "f8" is not known; use f64', {"dtypes": "f8"}),
                             ('array=...\\): "cupy" is not known; use numpy', {"array": "cupy"}),
                             ('features=...\\): "speed" is not known', {"features": ["key", "speed"]})]:
            with self.assertRaisesRegex(ropecheck.UsageError, words):
                ropecheck.kernel(**wrong)


    def test_functions_of_this_process_that_are_no_kernels(self):
        for command in (ropecheck.verify, ropecheck.identify):
            with self.assertRaisesRegex(ropecheck.SubjectError, r'fit .*in Python: convention="huggingface_gptj"\):'):
                command(lambda tensor, sin, cos: tensor)
        with self.assertRaisesRegex(ropecheck.SubjectError, "cannot run here: ModuleNotFoundError: .*api_test.py"):
            ropecheck.verify(lambda call: __import__("no_such_module"))


class Interrupts(unittest.TestCase):
    def test_ctrl_c_ends_all(self):
        script = ("import ropecheck, kernels, time\n"
                  "def slow(call):\n print('called', flush=True); time.sleep(0.05); return kernels.right(call)\n"
                  "ropecheck.verify(slow, level='full')\n")
        mark = f"MARK_OF_A_TEST={id(self)}.{time.time_ns()}"
        name, value = mark.split("=")
        environment = {**os.environ, "PYTHONPATH": f"{running.PACKAGE}:{HERE}", name: value}
        with tempfile.TemporaryDirectory() as folder:
            child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     text=True, cwd=folder, env={**environment, "TMPDIR": folder})
            child.stdout.readline()
            child.send_signal(signal.SIGINT)
            _, err = child.communicate(timeout=20)
            self.assertIn("KeyboardInterrupt", err)
            self.assertEqual(list(Path(folder).iterdir()), [])
        deadline = time.monotonic() + 5
        while (left := self.processes_with(mark)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(left, [])

    @staticmethod
    def processes_with(mark):
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark.encode() in (process / "environ").read_bytes():
                    found.append(process.name)
            except OSError:
                pass
        return found


if __name__ == "__main__":
    unittest.main()
