"""pytest --rope-kernel: python3 plugin_test.py BUILD."""

import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import environment
import running

if __name__ == "__main__":
    environment.with_requirements()
    running.use(sys.argv.pop(1))

from running import HERE, PACKAGE, ROOT  # noqa: E402


def pytest(*words, packages="", **variables):
    """`packages`: a folder with the metadata of installed packages."""
    environment = {**os.environ, **variables, "PYTHONPATH": f"{packages}:{PACKAGE}:{HERE}".lstrip(":"), "PYTEST_ADDOPTS": "",
                   "COLUMNS": "250"}
    command = [sys.executable, "-m", "pytest", "-p", "ropecheck.pytest_plugin", "-p", "no:cacheprovider", *words]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "other_test.py").write_text("def test_other():\n    pass\n")
        done = subprocess.run([*command, "--junit-xml", "junit.xml"], cwd=folder, env=environment, capture_output=True,
                              text=True)
        results = Path(folder) / "junit.xml"
        suite = ElementTree.parse(results).getroot()[0] if results.exists() else ElementTree.Element("testsuite")
    return done, {case.get("name"): case for case in suite.iter("testcase")}


def entry_point():
    """NAME = MODULE, as the wheel has it."""
    table = (ROOT / "pyproject.toml").read_text().partition("[project.entry-points.pytest11]\n")[2]
    return re.sub('["]|  #.*', "", table.splitlines()[0])


def read_from(terminal):
    """What a terminal shows next; nothing when all programs have ended."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def properties(case):
    return {one.get("name"): one.get("value") for one in case.iter("property")}


class Plugin(unittest.TestCase):
    def test_an_item_for_each_requirement(self):
        done, cases = pytest("--rope-kernel", "kernels:right", "--collect-only", "-q")
        command = [os.environ["ROPECHECK_PROGRAM"], "list", "requirements"]
        listed = subprocess.run(command, capture_output=True, text=True).stdout
        ids = re.findall(r"^([A-Z]{3}-\d\d) ", listed, re.MULTILINE)
        self.assertEqual(re.findall(r"kernels:right::(\S+)", done.stdout), ids)
        self.assertNotIn("other_test", done.stdout)

    def test_a_page_for_each_kernel(self):
        with tempfile.TemporaryDirectory() as folder:
            spec = Path(folder, "spec.json")
            spec.write_text('{"head_dim": 8}')
            done, _ = pytest("--rope-kernel", "kernels:right", "--rope-kernel", "kernels:wrong_values", "-k",
                             "ROT-01 or DET-03", "--rope-spec", str(spec), "--rope-html", f"{folder}/pages", "-n", "2")
            self.assertEqual(done.returncode, 1, done.stdout)
            pages = {file.name: file.read_text() for file in Path(folder, "pages").iterdir()}
        right, wrong = sorted(pages)
        self.assertRegex(right, r"^kernels_right-[0-9a-f]{8}\.html$")
        self.assertRegex(wrong, r"^kernels_wrong_values-[0-9a-f]{8}\.html$")
        self.assertIn('<span class="word">conforms<', pages[right])
        self.assertIn('<span class="word">does not conform<', pages[wrong])
        for page in pages.values():
            self.assertEqual(re.findall(r"> (ROT-01|DET-03)</span>", page).count("DET-03"), 1)
            self.assertIn("Error by pair and position in f32.", page)

    def test_a_folder_for_pages_that_cannot_be_written(self):
        done, _ = pytest("--rope-kernel", "kernels:right", "--rope-html", "/dev/null/pages")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--rope-html /dev/null/pages: it cannot be written: Not a directory", done.stdout + done.stderr)

    def test_chosen_by_k_and_spread_by_xdist(self):
        done, cases = pytest("--rope-kernel", "kernels:right", "-k", "ROT-01 or ROT-02 or DET-03", "-n", "2")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(set(cases), {"ROT-01", "ROT-02", "DET-03"})
        self.assertEqual(properties(cases["ROT-01"])["verdict"], "pass")
        self.assertLess(float(properties(cases["ROT-01"])["worst_use"]), 1)
        self.assertIsNotNone(cases["DET-03"].find("skipped"))

    def test_one_run_and_one_diagnosis_a_kernel(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "ropecheck")
            program.write_text(f'#!/bin/sh\necho "$1" >> {folder}/runs\nexec {os.environ["ROPECHECK_PROGRAM"]} "$@"\n')
            program.chmod(0o755)
            done, cases = pytest("--rope-kernel", "kernels:turns_backwards", "-k", "ROT", ROPECHECK_PROGRAM=str(program))
            self.assertEqual(Path(folder, "runs").read_text().split().count("verify"), 1)
        failed = {id: case.find("failure").text for id, case in cases.items() if case.find("failure") is not None}
        self.assertGreater(len(failed), 1, done.stdout)
        self.assertEqual([id for id, text in failed.items() if "diagnosis: " in text], ["ROT-01"])
        self.assertIn("ROT-01 has the diagnosis", failed["ROT-04"])
        self.assertIn("ropecheck replay 'ROT-04:", failed["ROT-04"])
        self.assertNotIn("ropecheck replay 'ROT-01:", failed["ROT-04"])

    def test_progress_is_shown_on_a_terminal(self):
        ours, other = pty.openpty()
        command = [sys.executable, "-m", "pytest", "-p", "ropecheck.pytest_plugin", "-p", "no:cacheprovider",
                   "--rope-kernel", "kernels:right", "-k", "ROT"]
        environment = {**os.environ, "PYTHONPATH": f"{PACKAGE}:{HERE}", "TERM": "xterm"}
        with tempfile.TemporaryDirectory() as folder:
            child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=other,
                                     stderr=other)
            os.close(other)
            shown = b""
            while part := read_from(ours):
                shown += part
            self.assertEqual(child.wait(), 0, shown)
        os.close(ours)
        self.assertRegex(shown, rb"\r\x1b\[K\[\d+/13\] python:kernels:right  ROT-\d\d  \d+ cases")
        self.assertNotIn(b"ropecheck:", shown)

    def test_a_missing_program_is_one_line(self):
        done, cases = pytest("--rope-kernel", "kernels:right", ROPECHECK_PROGRAM="/nowhere/ropecheck")
        self.assertEqual((done.returncode, cases), (4, {}))
        self.assertEqual((done.stdout + done.stderr).strip(), "ERROR: the ropecheck program is not there: "
                         "ROPECHECK_PROGRAM is /nowhere/ropecheck; expected a file")

    def test_a_crash_costs_one_item(self):
        done, cases = pytest("--rope-kernel", "kernels:crashes_in_place", "-k", "ROT-10 or MEM-04")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 failed, 1 passed", done.stdout)
        self.assertEqual(properties(cases["MEM-04"])["kind"], "crash")
        self.assertIn("ropecheck replay 'MEM-04:", properties(cases["MEM-04"])["replay"])
        self.assertIn("read from address 0x8", cases["MEM-04"].find("failure").text)

    def test_the_summary_names_the_requirement_and_the_diagnosis(self):
        for more in ((), ("-n", "1")):
            done, cases = pytest("--rope-kernel", "kernels:turns_backwards", "-k", "ROT-01", *more)
            headline = re.search(r"^FAILED kernels:turns_backwards::ROT-01 - (.*)$", done.stdout, re.MULTILINE)[1]
            self.assertRegex(headline, "^ROT-01: .*sin is negated.*; [0-9]+ of [0-9]+ elements are wrong$")
            self.assertEqual(cases["ROT-01"].find("failure").get("message"), headline)
            told = done.stdout.partition("= FAILURES =")[2].partition("= short test summary")[0].splitlines()
            self.assertIn(headline, told)
            self.assertEqual([line for line in told if "kernels:turns_backwards" in line and "replay  " not in line],
                             [line for line in told if line.startswith("____")])
            self.assertNotIn("Traceback", done.stdout)

    def test_the_entry_point_and_p_together(self):
        with tempfile.TemporaryDirectory() as packages:
            made = Path(packages) / "ropecheck-0.dist-info"
            made.mkdir()
            (made / "METADATA").write_text("Metadata-Version: 2.1\nName: ropecheck\nVersion: 0\n")
            (made / "entry_points.txt").write_text(f"[pytest11]\n{entry_point()}\n")
            done, cases = pytest("--rope-kernel", "half_split", "-k", "ROT-02", packages=packages)
        self.assertEqual((done.returncode, set(cases)), (0, {"ROT-02"}), done.stderr)
        self.assertIn("plugins: ropecheck-0", done.stdout)

    def test_beside_other_tests(self):
        done, cases = pytest("other_test.py", "--rope-kernel", "half_split", "-k", "other or ROT-02")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(set(cases), {"test_other", "ROT-02"})

    def test_nothing_without_the_option(self):
        done, cases = pytest()
        self.assertEqual((done.returncode, set(cases)), (0, {"test_other"}))

    def test_a_kernel_that_is_not_there(self):
        done, _ = pytest("--rope-kernel", "kernels:rigth", "-k", "ROT-01")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED kernels:rigth::ROT-01 - module kernels has no rigth; it has right", done.stdout)

    def test_what_stops_every_item_is_told_once(self):
        done, cases = pytest("--rope-kernel", "kernels:rigth", "-k", "ROT-01 or ROT-02 or SPC-02")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 failed, 2 skipped", done.stdout)
        self.assertIn("not judged; ROT-01 says why", cases["SPC-02"].find("skipped").get("message"))


if __name__ == "__main__":
    unittest.main()
