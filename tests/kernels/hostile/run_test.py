#!/usr/bin/env python3
"""Checks that tests/kernels/hostile/run can fail: run_test.py [BUILD]; without a build only the lists."""

import contextlib
import io
import subprocess
import sys
import unittest
import unittest.mock
from pathlib import Path

import attacks
import loaded
import runs
import sentences
import situations
from sentences import FINDING, HARMLESS, REFUSED, Outcome

HERE = Path(__file__).resolve().parent


command = loaded.command("run")


class Lists(unittest.TestCase):
    def test_every_list_can_be_read_and_is_large_enough(self):
        for kind, least in {"native": 120, "workers": 60, "libraries": 30, "python": 25, "escapes": 10}.items():
            with self.subTest(kind):
                path = HERE / f"{kind}.txt"
                self.assertGreaterEqual(len(sentences.read(path.read_text(), path.name)), least)

    def test_a_line_without_an_end_or_twice_is_an_error(self):
        for text in ("a finding\n", "a found : x\n", "a finding : x\na finding : y\n"):
            with self.subTest(text), self.assertRaisesRegex(ValueError, "some.txt:"):
                sentences.read(text, "some.txt")


class Sentences(unittest.TestCase):
    def test_a_part_of_the_sentence_is_enough(self):
        self.assertTrue(Outcome(FINDING, "died (SIGTERM) in the middle").is_as(Outcome(FINDING, "died (SIGTERM)")))

    def test_a_star_is_any_text_and_nothing_else_has_a_meaning(self):
        self.assertTrue(Outcome(FINDING, "wrote to 0x7f, in a.so").is_as(Outcome(FINDING, "wrote to *, in a.so")))
        self.assertFalse(Outcome(FINDING, "wrote to 0x7f, in aXso").is_as(Outcome(FINDING, "wrote to *, in a.so")))

    def test_any_choice_will_do(self):
        self.assertTrue(Outcome(FINDING, "aborted").is_as(Outcome(FINDING, "died | aborted")))

    def test_another_end_is_not_the_same(self):
        self.assertFalse(Outcome(HARMLESS).is_as(Outcome(FINDING, "died")))
        self.assertFalse(Outcome(FINDING, "died").is_as(Outcome(HARMLESS, "died")))
        self.assertFalse(Outcome(FINDING, "died").is_as(Outcome(REFUSED, "died")))

    def test_what_is_missing_anywhere_is_a_problem(self):
        expected = {"a": Outcome(FINDING, "died")}
        self.assertEqual(sentences.problems(["a"], expected, [Outcome(FINDING, "died")]), [])
        self.assertIn("does not name it", sentences.problems(["a"], expected, [None])[0])
        self.assertIn("is not in the list", sentences.problems(["b"], expected, [Outcome(HARMLESS)])[0])


class Situations(unittest.TestCase):
    def test_no_user_namespace_can_be_made_where_none_may(self):
        limit = Path("/proc/sys/user/max_user_namespaces").read_text()
        can_make = situations.Situation("", is_user=True)
        if can_make.start(["unshare", "-U", "true"], stderr=subprocess.DEVNULL).wait() != 0:
            self.skipTest("no user namespace can be made here")
        without = next(each for each in situations.OF_A_USER if not each.has_namespaces)
        self.assertNotEqual(without.start(["unshare", "-U", "true"], stderr=subprocess.DEVNULL).wait(), 0)
        self.assertEqual(Path("/proc/sys/user/max_user_namespaces").read_text(), limit)


class InABuild(unittest.TestCase):
    build = None

    @classmethod
    def setUpClass(cls):
        runs.adopt_orphans()
        cls.kind = attacks.native(cls.build, None, None)

    def problems(self, name, changed):
        expected = sentences.read(self.kind.list_of_sentences.read_text(), "native.txt")
        chosen = [attack for attack in self.kind.attacks if attack.name == name]
        text = io.StringIO()
        with unittest.mock.patch.object(sentences, "read", return_value={**expected, **changed}), \
                contextlib.redirect_stdout(text):
            command.judge(self.build, self.kind, chosen)
        return text.getvalue()

    def test_a_deed_with_its_sentence_is_no_problem(self):
        self.assertEqual(self.problems("null_write/first", {}), "")

    def test_a_deed_with_another_sentence_is_reported(self):
        text = self.problems("null_write/first", {"null_write/first": Outcome(FINDING, "wrote past the end")})
        self.assertIn("native: null_write/first: ended as finding: wrote to address 0x0", text)

    def test_a_deed_that_is_called_harmless_is_reported(self):
        text = self.problems("abort_process/first", {"abort_process/first": Outcome(HARMLESS, "it is not")})
        self.assertIn("native: abort_process/first: ended as finding: aborted (SIGABRT)", text)

    def test_every_escape_that_succeeds_is_reported(self):
        kind = attacks.escapes(self.build, None, None)
        without = situations.Situation("", is_user=True, options=("--sandbox", "off"))
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            named = command.judge(self.build, kind, kind.attacks, without)
        always_stopped = {"patch_suite", "trace_suite", "stay_behind"}  # for a user
        self.assertEqual(named, set(attacks.ESCAPES) - always_stopped, text.getvalue())

    def test_a_name_of_the_list_without_an_attack_is_reported(self):
        text = self.problems("null_write/first", {"other/first": Outcome(FINDING, "died")})
        self.assertIn("native: other/first: is in the list, and no attack", text)

    def test_a_run_whose_last_subject_is_wrong_is_reported(self):
        last = next(attack.argument for attack in self.kind.attacks if attack.name == "null_write/first")
        with unittest.mock.patch.object(runs, "LAST", last):
            self.assertIn("the last subject, does not conform", self.problems("abort_process/first", {}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        InABuild.build = Path(sys.argv.pop(1)).resolve()
    else:
        del InABuild
    unittest.main()
