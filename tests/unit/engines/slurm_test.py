"""`ropecheck certify submit --engine slurm` with a real Slurm: python3 slurm_test.py BUILD.

16 shards on 2 CPUs. A shard's process is killed, then the slurmstepd of another one, and slurmd. slurmd is started
again. What is missing is submitted twice. The certificate has the bytes of `--jobs 1`. Exit code 77: Slurm cannot run
here; ctest then counts the test as skipped.
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
PLAN = ["--dtype", "f32", "--head-dim", "128", "--sweep", "positions", "--positions", "600000"]
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


def slurmstepd_of(pid):
    """Throws ProcessLookupError if it has ended."""
    parent = int(re.search(r"^PPid:\s*(\d+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[1])
    if not Path(f"/proc/{parent}/cmdline").read_text().startswith("slurmstepd"):
        raise ProcessLookupError
    return parent


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

    def runs(self):
        """The shards that were computed, in order."""
        return [json.loads(line)["shard"][0] for line in (self.folder / "times.jsonl").read_text().splitlines()]

    def merge_log(self, said):
        number = re.search(r"job (\d+): the merge", said)[1]
        return (self.folder / "slurm" / f"merge-{number}.log").read_text()

    def stopped_shard(self):
        """(shard, pid) of one that has begun and not ended: it cannot end before it is killed, or continued."""
        for shard, pid in processes_of_shards(self.folder).items():
            try:
                os.kill(pid, signal.SIGSTOP)
            except ProcessLookupError:
                continue
            if (self.folder / "shards" / f"{shard}-of-16.journal").exists() and shard not in self.finished():
                return shard, pid
            os.kill(pid, signal.SIGCONT)
        return None

    def kill_a_shard(self):
        shard, pid = wait_for(self.stopped_shard, "no shard is at work")
        os.kill(pid, signal.SIGKILL)
        # Else Slurm might start it again, too.
        wait_for(lambda: str(shard) not in self.cluster.running(), "the killed shard's job does not end")
        return shard

    def shard_without_its_slurmstepd(self):
        """That is killed, and the shard goes on. A stopped one would not: the kernel sends it SIGHUP then."""
        for shard, pid in processes_of_shards(self.folder).items():
            try:
                os.kill(slurmstepd_of(pid), signal.SIGKILL)
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended
            return shard
        return None

    def kill_slurmd(self):
        """And the slurmstepd of a shard, which Slurm starts again then."""
        shard = wait_for(self.shard_without_its_slurmstepd, "no shard runs")
        self.cluster.kill("slurmd")
        wait_for(lambda: shard in self.finished() and not processes_of_shards(self.folder), "shards did not go on")
        # As slurmctld does by itself after SlurmdTimeout, five minutes.
        self.cluster.set_node_state("DOWN", "Reason=slurmd")
        self.cluster.start_slurmd()
        return shard

    def test_the_certificate_has_the_same_bytes_after_kills(self):
        self.ropecheck("certify", "./kernel.so#right", "--out", "alone", "--jobs", "1", *PLAN)
        self.ropecheck("certify", "plan", "./kernel.so#right", FOLDER, *PLAN)
        self.assertIn("invalid partition specified: none", self.submit("--partition", "none", code=3))

        first = self.submit("--sbatch-option", "time=10", "--partition", "all")
        self.assertIn("the shards 1-16\n", first)
        killed = self.kill_a_shard()
        lost = self.kill_slurmd()
        self.wait_for_jobs()
        self.assertEqual(set(range(1, 17)) - self.finished(), {killed})
        self.assertIn("0 computed now", next((self.folder / "slurm").glob(f"shard-{lost}-*.log")).read_text())
        self.assertIn("blocks are missing", self.merge_log(first))
        self.assertFalse((self.folder / "certificate.json").exists())

        runs = self.runs()
        second = self.submit()
        self.assertRegex(second, rf"1 of 16 shards missing\n  job \d+: the shards {killed}\n")
        # Two writers of one shard.
        self.submit()
        self.wait_for_jobs()
        certificate = (self.folder / "certificate.json").read_bytes()
        self.assertEqual(certificate, (self.work / "alone" / "certificate.json").read_bytes())
        self.assertIn("conforms on all", self.merge_log(second))
        self.assertIn("no shard is missing", self.submit())
        self.assertEqual(set(self.runs()[len(runs) :]), {killed})


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    with tempfile.TemporaryDirectory() as probed:
        try:
            slurm.Cluster(Path(probed))
        except slurm.Unavailable as reason:
            print(f"left out: {reason}")
            sys.exit(SKIPPED)
    unittest.main()
