"""The jobs that docs/certify.md shows for GitLab, run as GitLab runs them: python3 certify_matrix_test.py BUILD.

Each job has a folder of its own, with the artifacts of all earlier stages. The certificate has the bytes of one process.
Exit code 77: PyYAML is missing.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    print("PyYAML is missing (Debian package python3-yaml)")
    sys.exit(77)

import jobs
from jobs import ROOT

sys.path.insert(0, str(ROOT / "tests" / "docs"))

import blocks  # noqa: E402


def pipeline():
    (text,) = [block.text for block in blocks.blocks_of((ROOT / "docs/certify.md").read_text())
               if block.language == "yaml" and "CI_NODE_INDEX" in block.text]  # fmt: skip
    return yaml.safe_load(text)


class Matrix(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name).resolve()
        self.path = os.pathsep.join([str(BUILD), os.environ.get("PATH", os.defpath)])
        self.artifacts = self.folder / "artifacts"
        self.artifacts.mkdir()

    def run_job(self, stages, name, **variables):
        """Returns what it leaves behind."""
        folder = self.folder / "-".join([name, *variables.values()])
        shutil.copytree(self.artifacts, folder)
        done = jobs.gitlab_job(stages, name, folder, self.path, **variables)
        self.assertEqual(done.code, 0, done.text)
        return [folder / path for path in stages[name]["artifacts"]["paths"]]

    def run_stage(self, stages, stage):
        kept = []
        for name, job in stages.items():
            if not isinstance(job, dict) or job["stage"] != stage:
                continue
            total = job.get("parallel")
            for index in range(1, (total or 1) + 1):
                number = {"CI_NODE_INDEX": str(index), "CI_NODE_TOTAL": str(total)} if total else {}
                kept += self.run_job(stages, name, **number)
        for path in kept:
            shutil.copytree(path, self.artifacts / path.name, dirs_exist_ok=True)

    def test_the_certificate_has_the_bytes_of_one_process(self):
        stages = pipeline()
        for stage in stages["stages"]:
            self.run_stage(stages, stage)
        self.assertEqual(len(list((self.artifacts / "certified" / "shards").glob("*-of-4.json"))), 4)
        words = shlex.split(stages["certify-plan"]["script"][0])
        self.assertEqual(words[:5], ["ropecheck", "certify", "plan", "half_split", "certified"])
        alone = [BUILD / "ropecheck", "certify", "half_split", "--out", self.folder / "alone", "--jobs", "1", *words[5:]]
        subprocess.run(alone, check=True, stdout=subprocess.DEVNULL)
        self.assertEqual((self.artifacts / "certified" / "certificate.json").read_bytes(),
                         (self.folder / "alone" / "certificate.json").read_bytes())  # fmt: skip


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    unittest.main()
