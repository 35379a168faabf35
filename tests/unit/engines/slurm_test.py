"""`ropecheck certify submit --engine slurm` with a real Slurm: python3 slurm_test.py BUILD.

16 shards on 2 CPUs. A shard's process is killed, slurmd is killed and started again, what is missing is submitted again,
and the certificate has the bytes of `--jobs 1`. Exit code 77: Slurm cannot run here; ctest then counts the test as
skipped.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import slurm
from slurm import wait_for

SKIPPED = 77
# A second and more for each shard.
PLAN = ["--dtype", "f32", "--head-dim", "128", "--sweep", "positions"]
FOLDER = "it's 100% certified"  # sbatch reads quotes and % in its own ways


def processes_of_shards(folder):
    """{shard: pid} of the processes that run one in this folder."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = process.joinpath("cmdline").read_text().split("\0")
        except OSError:
            continue
        if words[1:3] == ["certify", "run"] and str(folder) in words:
            found[int(words[words.index("--shard") + 1].split("/")[0])] = int(process.name)
    return found


class SlurmTest(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="ropecheck_slurm.")
        self.addCleanup(made.cleanup)
        self.work = Path(made.name).resolve()
        os.symlink(BUILD / "one_element.so", self.work / "kernel.so")
        (self.work / "cluster").mkdir()
        self.cluster = slurm.Cluster(self.work / "cluster")
        self.cluster.__enter__()
        self.addCleanup(self.cluster.__exit__)
        self.folder = self.work / FOLDER

    def ropecheck(self, *words, code=0):
        done = subprocess.run([BUILD / "ropecheck", *map(str, words)], env=self.cluster.environment, cwd=self.work,
                              capture_output=True, text=True, timeout=300)  # fmt: skip
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr if code else done.stdout

    def submit(self, *words, code=0):
        return self.ropecheck("certify", "submit", "./kernel.so#right", FOLDER, "--engine", "slurm", *words, code=code)

    def wait_for_jobs(self):
        wait_for(lambda: not self.cluster.queue(), "jobs are left in the queue", seconds=240)

    def finished(self):
        return {int(path.name.split("-")[0]) for path in (self.folder / "shards").glob("*.json")}

    def merge_log(self, said):
        number = re.search(r"job (\d+): the merge", said)[1]
        return (self.folder / "slurm" / f"merge-{number}.log").read_text()

    def kill_a_shard(self):
        """At work: its journal has a block."""
        def at_work():
            running = processes_of_shards(self.folder)
            return [(shard, pid) for shard, pid in running.items()
                    if (self.folder / "shards" / f"{shard}-of-16.journal").exists()]  # fmt: skip
        shard, pid = wait_for(at_work, "no shard is at work")[0]
        os.kill(pid, signal.SIGKILL)
        return shard

    def kill_slurmd(self):
        """And start it again, while a shard is at work, which goes on."""
        running = wait_for(lambda: processes_of_shards(self.folder), "no shard runs")
        self.cluster.kill("slurmd")
        wait_for(lambda: running.keys() <= self.finished(), "shards did not go on without slurmd")
        self.cluster.start_slurmd()

    def test_the_certificate_has_the_same_bytes_after_kills(self):
        self.ropecheck("certify", "./kernel.so#right", "--out", "alone", "--jobs", "1", *PLAN)
        self.ropecheck("certify", "plan", "./kernel.so#right", FOLDER, *PLAN)
        self.assertIn("invalid partition specified: none", self.submit("--partition", "none", code=3))

        first = self.submit("--sbatch-option", "time=10", "--partition", "all")
        self.assertIn("the shards 1-16\n", first)
        killed = self.kill_a_shard()
        self.kill_slurmd()
        self.wait_for_jobs()
        missing = set(range(1, 17)) - self.finished()
        self.assertIn(killed, missing)
        self.assertLess(len(missing), 4)
        self.assertIn("blocks are missing", self.merge_log(first))
        self.assertFalse((self.folder / "certificate.json").exists())

        second = self.submit()
        self.assertIn(f"{len(missing)} of 16 shards missing", second)
        self.assertIn(f"the shards {','.join(map(str, sorted(missing)))}\n", second)
        # Two writers of one shard.
        self.submit()
        self.wait_for_jobs()
        certificate = (self.folder / "certificate.json").read_bytes()
        self.assertEqual(certificate, (self.work / "alone" / "certificate.json").read_bytes())
        self.assertIn("conforms on all", self.merge_log(second))
        self.assertIn("no shard is missing", self.submit())
        self.check_that_finished_shards_were_not_run_again(missing)

    def check_that_finished_shards_were_not_run_again(self, missing):
        runs = [json.loads(line)["shard"][0] for line in (self.folder / "times.jsonl").read_text().splitlines()]
        for shard in set(range(1, 17)) - missing:
            self.assertEqual(runs.count(shard), 1, runs)


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    with tempfile.TemporaryDirectory() as probed:
        try:
            slurm.Cluster(Path(probed))
        except slurm.Unavailable as reason:
            print(f"left out: {reason}")
            sys.exit(SKIPPED)
    unittest.main()
