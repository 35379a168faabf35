"""The steps of action.yml and of tools/ci/gitlab.yml, run as CI systems run them: python3 steps_test.py BUILD.

Exit code 77: PyYAML is missing.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

try:
    import yaml
except ImportError:
    print("PyYAML is missing (Debian package python3-yaml)")
    sys.exit(77)

import jobs
from jobs import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
GITLAB = yaml.safe_load((ROOT / "tools/ci/gitlab.yml").read_text())
JUDGE = ROOT / "tools/ci/ropecheck-ci"
QUICK = "--no-diagnosis --head-dim 8 --dtype f32"
RIGHT = {"subjects": "half_split\n\n  naive_matrix  \n", "only": "ROT-01", "options": QUICK}


def wrong():
    return {**RIGHT, "subjects": f"{BUILD}/mutants.so#PIPE-01"}


def program(path, script):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def stub_wheel(folder):
    """pip installs this build's program, as if it were a wheel."""
    return jobs.wheel(folder / "ropecheck-0.0.1-py3-none-any.whl",
                      {"ropecheck": f'#!/bin/sh\nexec {BUILD}/ropecheck "$@"\n', "ropecheck-ci": JUDGE.read_text()})


class Scratch(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name).resolve()
        self.system_path = os.environ.get("PATH", os.defpath)
        self.path = os.pathsep.join([str(BUILD), self.system_path])


class Files(unittest.TestCase):
    def test_each_input_is_used_and_each_used_one_is_an_input(self):
        text = (ROOT / "action.yml").read_text()
        self.assertEqual(set(re.findall(r"inputs\.([\w-]+)", text)), set(ACTION["inputs"]))

    def test_no_input_becomes_part_of_a_script(self):
        for step in ACTION["runs"]["steps"]:
            self.assertNotIn("${{", step.get("run", ""), step["name"])

    def test_steps_of_others_are_githubs_own_with_their_major_version(self):
        used = {step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step}
        self.assertEqual({use.split("@")[0] for use in used},
                         {"actions/setup-python", "actions/cache", "actions/upload-artifact"})
        for use in used:
            self.assertRegex(use, r"@v\d+$")

    def test_gitlab_knows_the_variables_of_the_command_and_no_others(self):
        command = set(re.findall(r"\bROPECHECK_[A-Z_]+", JUDGE.read_text()))
        given = set(next(step for step in ACTION["runs"]["steps"] if step["name"] == "Judge")["env"])
        self.assertEqual(given, command)
        known = {name for name in GITLAB[".ropecheck"]["variables"] if name.startswith("ROPECHECK_")}
        self.assertEqual(known - {"ROPECHECK_PACKAGE"}, command)

    def test_the_image_holds_the_wheel_and_no_library_that_is_in_it(self):
        image = (ROOT / "tools/ci/Dockerfile").read_text()
        self.assertIn("NOT BUILT BY OUR CI", image)
        _, building, holding = re.split("^FROM", image, flags=re.MULTILINE)
        self.assertIn("""awk '$1 == "wheel" { print $2 }' /src/tools/packages.txt""", building)
        self.assertIn("/src/tools/wheel", building)
        (names,) = re.findall(r"apt-get install --no-install-recommends -y (.*?)&&", holding, re.DOTALL)
        self.assertEqual(set(names.replace("\\", "").split()), {"gcc", "libc6-dev", "python3"})


class Judging(Scratch):
    """The step `Judge`, with the program of this build in the PATH."""

    def judge(self, inputs, path=None, **variables):
        self.job = jobs.GitHubJob(ACTION, self.folder / str(len(list(self.folder.iterdir()))), path or self.path)
        return self.job.step("Judge", inputs, **variables)

    def reports(self):
        return {path.name for path in (self.job.work / "ropecheck-reports").glob("*")}

    def test_right_kernels(self):
        done = self.judge(RIGHT)
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(self.job.outputs(), {"exit-code": "0"})
        self.assertNotIn("::error", done.text)
        self.assertEqual(self.reports(), {"rope.xml", "rope.md", "rope.json", "rope.html"})
        folder = self.job.work / "ropecheck-reports"
        report = json.loads((folder / "rope.json").read_text())
        self.assertEqual([subject["subject"] for subject in report["subjects"]], ["half_split", "naive_matrix"])
        self.assertEqual({subject["level"] for subject in report["subjects"]}, {"quick"})
        self.assertEqual(self.job.files["STEP_SUMMARY"].read_text(), (folder / "rope.md").read_text())
        self.assertEqual(ElementTree.parse(folder / "rope.xml").getroot().get("failures"), "0")

    def test_no_line_of_a_kernel_is_a_command_of_the_job(self):
        says = ("::error::forged\n \t::add-mask::conforms\nword ##[add-path]/tmp\n"
                "::stop-commands::1234\n::1234::\n::debug::")
        stub = program(self.folder / "stub/ropecheck", f"printf '{says}'; printf '{says}' >&2; exit 1")
        self.assertEqual(len(jobs.commands_in(says)), 6)
        words = set()
        for _ in range(2):
            done = self.judge(RIGHT, path=os.pathsep.join([str(stub.parent), self.system_path]))
            self.assertEqual(done.code, 1)
            (stop, word), end, (error, text) = done.commands()
            self.assertEqual((stop, end, error), ("stop-commands", (word, ""), "error"))
            self.assertIn("exit code 1: the kernel", text)
            self.assertGreaterEqual(len(word), 32)  # hexadecimal digits of 16 bytes: none is guessed
            words.add(word)
        self.assertEqual(len(words), 2)

    def test_a_wrong_kernel(self):
        done = self.judge({**wrong(), "reports": "here/and there"})
        self.assertEqual(done.code, 1, done.text)
        self.assertEqual(self.job.outputs(), {"exit-code": "1"})
        self.assertIn("::error title=ropecheck::exit code 1: the kernel: a subject does not conform", done.text)
        self.assertTrue((self.job.work / "here/and there/rope.xml").is_file())
        self.assertIn("| **fail** |", self.job.files["STEP_SUMMARY"].read_text())

    def test_a_known_failure(self):
        (self.folder / "known").write_text("ROT-01 at quick\n")
        done = self.judge({**wrong(), "expected-failures": str(self.folder / "known")})
        self.assertEqual(done.code, 0, done.text)

    def test_demands(self):
        done = self.judge({**RIGHT, "subjects": "naive_matrix", "require": "A1", "level": "full", "only": "ROT-02"})
        self.assertEqual(done.code, 0, done.text)
        (subject,) = json.loads((self.job.work / "ropecheck-reports/rope.json").read_text())["subjects"]
        self.assertEqual((subject["level"], subject["require"]), ("full", ["A1"]))

    def test_mistakes(self):
        for inputs, code, words in (
            ({"subjects": "half_split", "level": "sometimes"}, 2, "exit code 2: the command line"),
            ({"subjects": " \n"}, 2, "no subject: name one"),
            ({"subjects": "/nowhere/lib.so"}, 3, "exit code 3: the machine"),
        ):
            done = self.judge(inputs)
            self.assertEqual((done.code, self.job.outputs()), (code, {"exit-code": str(code)}), done.text)
            self.assertIn(words, done.text)
            summary = self.job.files["STEP_SUMMARY"].read_text()
            self.assertIn("| **refused** |" if code == 3 else "", summary)

    def test_without_the_command(self):
        bare = self.folder / "bare"
        bare.mkdir()
        for program in ("bash", "sed"):
            (bare / program).symlink_to(shutil.which(program))
        done = self.judge(RIGHT, path=str(bare))
        self.assertEqual(done.code, 3, done.text)
        self.assertIn("the command ropecheck is not in the PATH", done.text)

    def test_an_interrupted_run_leaves_no_report_of_an_earlier_one(self):
        for code, words in ((4, "exit code 4: incomplete"), (139, "exit code 139: ropecheck itself failed")):
            fake = program(self.folder / f"fake{code}" / "ropecheck", f"exit {code}").parent
            old = self.folder / "old" / "rope.md"
            old.parent.mkdir(exist_ok=True)
            old.write_text("all is well")
            done = self.judge({**RIGHT, "reports": str(old.parent)}, path=f"{fake}:{self.system_path}")
            self.assertEqual(done.code, code, done.text)
            self.assertIn(words, done.text)
            self.assertFalse(old.exists())

    def test_outside_of_ci_it_takes_arguments_and_writes_nothing(self):
        done = subprocess.run([JUDGE, "half_split", "--only", "ROT-01", *QUICK.split()], cwd=self.folder, text=True,
                              capture_output=True, env=jobs.environment(PATH=self.path))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(self.folder.iterdir()), [])
        done = subprocess.run([JUDGE], capture_output=True, text=True, env=jobs.environment(PATH=self.path))
        self.assertEqual(done.returncode, 2)
        self.assertIn("ropecheck-ci: no subject", done.stderr)


class Installing(Scratch):
    def test_a_wheel_is_installed_and_the_next_steps_have_the_command(self):
        if subprocess.run(["python3", "-c", "import ensurepip"], capture_output=True).returncode != 0:
            self.skipTest("no virtual environment with pip can be made here (Debian package python3-venv)")
        job = jobs.GitHubJob(ACTION, self.folder / "job", self.system_path)
        inputs = {**RIGHT, "package": str(stub_wheel(self.folder))}
        done = job.step("Install", inputs)
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(job.path[0], str(job.temp / "ropecheck/bin"))
        self.assertEqual([path.name for path in Path(job.path[0]).iterdir()], ["ropecheck"])
        done = job.step("Judge", inputs)
        self.assertEqual(done.code, 0, done.text)

        # From here on the job has an environment of its own.
        own = {"VIRTUAL_ENV": str(job.temp / "ropecheck/venv")}
        self.system_path = f"{own['VIRTUAL_ENV']}/bin:{self.system_path}"
        job = jobs.GitHubJob(ACTION, self.folder / "second job", self.system_path)
        done = job.step("Install", {**RIGHT, "package": "/nowhere/ropecheck-1-py3-none-any.whl"}, **own)
        self.assertEqual(done.code, 3, done.text)
        self.assertIn("pip could not install /nowhere/ropecheck-1-py3-none-any.whl", done.text)
        self.assertEqual(job.files["PATH"].read_text(), "")
        self.builds_the_sources_once(own)

    def builds_the_sources_once(self, variables):
        """Without a wheel. In this action tools/wheel needs no compiler and no network."""
        root = self.folder / "action"
        (root / "tools/ci").mkdir(parents=True)
        shutil.copy(ROOT / "tools/setup", root / "tools/setup")
        shutil.copy(ROOT / "tools/ci/install", root / "tools/ci/install")
        (root / "tools/packages.txt").write_text("wheel libc6 # is there\n" "needed no-such-package # stays away\n")
        program(root / "tools/wheel", f'set -e; [ "$1 $2" = "$(uname -m) --out" ]; touch "{self.folder}/built"\n'
                f'mkdir -p "$3"; cp "{stub_wheel(self.folder)}" "$3"')
        job = jobs.GitHubJob(ACTION, self.folder / "third job", self.system_path, root)
        for is_built in (True, False):  # the second time its wheel is there, as from the cache
            done = job.step("Install", RIGHT, **variables)
            self.assertEqual(done.code, 0, done.text)
            self.assertRegex(done.text, r"ropecheck \d+\.\d+")
            self.assertFalse((job.temp / "ropecheck/venv").exists())
            self.assertEqual((self.folder / "built").exists(), is_built)
            (self.folder / "built").unlink(missing_ok=True)

    def test_the_key_of_the_cache_changes_with_the_sources_and_the_package(self):
        root = self.folder / "action"
        (root / "build").mkdir(parents=True)
        job = jobs.GitHubJob(ACTION, self.folder / "job", self.system_path, root)

        def key(**inputs):
            self.assertEqual(job.step("Key of the cache", inputs).code, 0)
            return job.outputs()["key"]

        keys = [key(), key(package="ropecheck==1")]
        (root / "build" / "file").write_text("made by a build")
        self.assertEqual(key(), keys[0])
        (root / "source").write_text("int x;")
        keys.append(key())
        self.assertEqual(len(set(keys)), 3, keys)
        self.assertRegex(keys[0], r"^ropecheck-\w+-[\w.]+-\w+-[0-9a-f]{20}$")


class GitLab(Scratch):
    def job(self, path, **variables):
        return jobs.gitlab_job(GITLAB, ".ropecheck", self.folder, path, **variables)

    def test_a_package_is_installed_and_the_kernel_judged(self):
        """Installing tests a real environment; here `venv` makes one whose pip knows one package."""
        fake = program(self.folder / "fake/python3", "mkdir -p .ropecheck-venv/bin; cp pip .ropecheck-venv/bin")
        program(self.folder / "pip", '[ "$*" = "install --quiet my.whl" ] || { echo no such package; exit 1; }\n'
                f"ln -sf {BUILD}/ropecheck {JUDGE} .ropecheck-venv/bin")
        path = f"{fake.parent}:{self.system_path}"
        done = self.job(path, ROPECHECK_PACKAGE="my.whl", ROPECHECK_SUBJECTS="half_split", ROPECHECK_ONLY="ROT-01",
                        ROPECHECK_OPTIONS=QUICK)
        self.assertEqual(done.code, 0, done.text)
        report = GITLAB[".ropecheck"]["artifacts"]["reports"]["junit"]
        self.assertEqual(report, "$ROPECHECK_REPORTS/rope.xml")
        self.assertTrue((self.folder / "ropecheck-reports/rope.xml").is_file())
        done = self.job(path, ROPECHECK_PACKAGE="another.whl", ROPECHECK_SUBJECTS="half_split")
        self.assertEqual(done.code, 3, done.text)
        self.assertIn("no such package", done.text)

    def test_an_image_that_has_the_command(self):
        path = os.pathsep.join([str(JUDGE.parent), self.path])
        for subjects, code, words in ((wrong()["subjects"], 1, "exit code 1: the kernel"),
                                      ("/nowhere/lib.so", 3, "exit code 3: the machine"),
                                      ("", 2, "no subject")):
            done = self.job(path, ROPECHECK_SUBJECTS=subjects, ROPECHECK_ONLY="ROT-01", ROPECHECK_OPTIONS=QUICK)
            self.assertEqual(done.code, code, done.text)
            self.assertIn(f"ropecheck-ci: {words}", done.text)


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    unittest.main()
