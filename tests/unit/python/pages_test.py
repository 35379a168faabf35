"""The pages of pytest --rope-html, without pytest: python3 pages_test.py BUILD."""

import json
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import running

if __name__ == "__main__":
    running.use(sys.argv.pop(1))

from running import PACKAGE  # noqa: E402

sys.path.insert(0, str(PACKAGE))
from ropecheck import notebook, pages  # noqa: E402


def report(id, **others):
    """A report of one requirement that holds."""
    requirement = {"id": id, "verdict": "pass"}
    subject = {"subject": "a:b", "requirements": [requirement], "cases": 1, "calls": 1, "seconds": 1.0,
               "kernel_seconds": 0.5, "heatmaps": [], "horizons": [], "grades": [], "claims": [], "conforms": True,
               "as_expected": True, "interrupted": False, "only": [id], **others}
    return {"schema": 1, "tool": "ropecheck", "subjects": [subject], "not_judged": []}


class Pages(unittest.TestCase):
    def test_two_subjects_have_two_files(self):
        long = "python:" + "long" * 100
        names = {pages.file_name(subject) for subject in ("a:b", "a_b", "a/b", long + "1", long + "2", "☃" * 200, ":")}
        self.assertEqual(len(names), 7)
        self.assertLess(max(len(name.encode()) for name in names), 120)
        self.assertTrue(pages.file_name("a:b").startswith("a_b-"))

    def test_what_one_part_says_of_itself_is_not_of_the_whole(self):
        part = report("ROT-01", conforms_without={"claims": ["in place"], "judged_again": 1}, missing_claim="backward", tried=[{}],
                      budget={"seconds": 1, "left_out": 7, "not_judged": 0, "in_part": 1})
        subject = pages.joined([part, report("ROT-02")])["subjects"][0]
        parts = {"conforms_without", "missing_claim", "budget", "tried", "only"}
        self.assertEqual(parts & subject.keys(), {"only"})
        self.assertEqual((subject["only"], subject["cases"], subject["verdict"]), ([], 2, "conforms"))
        self.assertIn("budget", part["subjects"][0])

    def test_requirements_are_in_the_commands_order(self):
        order = ["ROT-01", "POS-01", "ANG-01"]
        written = []
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(notebook, "page_of", lambda data: written.append(data) or "page"):
            pages.begin(folder)
            for id in sorted(order):
                pages.add(folder, "a:b", id, SimpleNamespace(data=json.loads(json.dumps(report(id)))))
            pages.finish(folder, order)
            self.assertEqual([file.name for file in Path(folder).iterdir()], [pages.file_name("a:b") + ".html"])
        self.assertEqual([one["id"] for one in written[0]["subjects"][0]["requirements"]], order)


if __name__ == "__main__":
    unittest.main()
