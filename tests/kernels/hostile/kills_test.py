#!/usr/bin/env python3
"""Checks that tests/kernels/hostile/kills can fail, on programs that leave what a killed one must not."""

import tempfile
import unittest
import unittest.mock
from pathlib import Path

import loaded
import runs

BEGIN = "#!/bin/sh\nout=$2/report.json temporary=$2/report.json.1.tmp\n"
WHOLE = "echo '{}' > $temporary; mv $temporary $out\n"
FAITHFUL = f"{BEGIN}rm -f $temporary; sleep 0.2; {WHOLE} sleep 0.1\n"
WRONG = {
    "torn": f"{BEGIN}printf '{{' > $out; sleep 0.2; echo '}}' >> $out\n",
    "is gone": f"{BEGIN}rm $out; sleep 0.2; {WHOLE}",
    "lived on": f"{BEGIN}sleep 60 & sleep 0.2; kill $!; {WHOLE}",
    "left other files": f"{BEGIN}temporary=$temporary.$$; touch $temporary; sleep 0.2; {WHOLE}",
    "left in TMPDIR": f"{BEGIN}mkdir $TMPDIR/$$; sleep 0.2; {WHOLE} rm -r $TMPDIR/$$\n",
    "ended with 3": f"{BEGIN}test -e $2/mark && exit 3; touch $2/mark; sleep 0.2; rm $2/mark; {WHOLE}",
    "wrote another": f"{BEGIN}test -e $2/mark && echo 1 > $out && rm $2/mark && exit; touch $2/mark; sleep 0.2; "
                     f"rm $2/mark; {WHOLE}",
}  # fmt: skip


command = loaded.command("kills")


class Kills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        runs.adopt_orphans()

    def problems_of(self, script, kills=4):
        said = []
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(command, "MOST_TO_END", 0.5):
            program = Path(folder) / "program"
            program.write_text(script)
            program.chmod(0o755)
            job = command.Job("one", ("write", "{}"), ("report.json",))
            is_right = command.kill_all(program, (job,), kills, 1, said.append)
        self.assertEqual(is_right, said[-1].endswith(" s") and "nothing torn" in said[-1], said)
        return said

    def test_a_program_that_renames_and_cleans_up_is_no_problem(self):
        (last,) = self.problems_of(FAITHFUL)
        self.assertIn("nothing torn or left behind", last)

    def test_each_thing_that_must_not_be_left_is_reported(self):
        for words, script in WRONG.items():
            with self.subTest(words):
                self.assertIn(words, " ".join(self.problems_of(script)))

    def test_a_job_that_cannot_be_done_at_all_is_reported(self):
        self.assertIn("ended with 7", " ".join(self.problems_of(f"{BEGIN}exit 7\n")))

    def test_times_do_not_count(self):
        one, other = ('{"seconds": %s, "started": "%s", "cases": 3}' % each for each in ((1.5, "a"), (2, "b")))
        self.assertEqual(command.without_times(one), command.without_times(other))
        self.assertNotEqual(command.without_times(one), command.without_times(other.replace("3", "4")))


if __name__ == "__main__":
    unittest.main()
