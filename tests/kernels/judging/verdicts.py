"""Runs `ropecheck verify`, and keeps the results, so an interrupted run resumes."""

import hashlib
import json
import os
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from .subjects import MODULES, PYTHON, ROOT, Subject

TIME_LIMIT = {"quick": 600, "full": 1800}  # seconds per run; a right kernel takes 3 and 20 on an idle core
TOGETHER = 6  # subjects in one run, if each takes little time
ASKED_LITTLE = {"--fail-fast", "--only"}


@dataclass(frozen=True)
class Job:
    subject: Subject
    level: str
    seed: int = 1
    options: tuple = ()

    @property
    def command(self):
        """All but the subject: jobs with the same command can share a run."""
        return ("--level", self.level, "--seed", str(self.seed), *self.options)


def condensed(exit_code, told, said=""):
    """What is kept of one subject of a report. `told`: its JSON, or None; `said`: its stderr."""
    result = {"exit_code": exit_code, "failed": [], "noted": [], "grades": {}, "use": 0.0, "where": "", "seconds": 0.0}
    try:
        result["verdicts"] = {requirement["id"]: requirement["verdict"] for requirement in told["requirements"]}
        for requirement in told["requirements"]:
            kept = {"fail": "failed", "note": "noted"}.get(requirement["verdict"])
            if kept:
                failure = requirement.get("failure", {})
                result[kept].append([requirement["id"], failure.get("message", ""), failure.get("replay", "")])
            use = float(requirement.get("worst", {}).get("use", 0))
            if use > result["use"]:
                result["use"], result["where"] = use, requirement["id"]
        result["grades"] = {grade["dtype"]: grade["grade"] or "none" for grade in told["grades"]}
        result["seconds"], result["cases"] = told["seconds"], told["cases"]
        if "diagnosis" in told:
            result["candidates"] = told["diagnosis"]["candidates"]
            result["certain"] = told["diagnosis"].get("certain")
        elif "unsupported" in told:
            result["unsupported"] = told["unsupported"]["claims"]
        decided = told["cases"] > 0 and not told["interrupted"]
    except (TypeError, LookupError):
        decided = False
    if not decided or exit_code != (1 if result["failed"] else 0):
        last = "".join(f": {line}" for line in said.splitlines()[-1:])
        result["no_verdict"] = f"verify gave no verdict: exit code {exit_code}{last[:400]}"
    return result


def ids(failures):
    return [requirement for requirement, *_ in failures]


class Runner:
    """Starts ropecheck; from several threads, until stop()."""

    def __init__(self, build, interpreter=None):
        self.build = build
        self.interpreter = interpreter
        self._running = set()
        self._lock = threading.Lock()
        self.stopped = False

    def run(self, words, time_limit, environment=None, program="ropecheck"):
        """Returns exit code, stdout and stderr. The exit code is None if the time was up or the run was stopped."""
        with self._lock:
            if self.stopped:
                return None, "", ""
            child = subprocess.Popen(
                [str(self.build / program), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                errors="replace", cwd=MODULES, env=environment and {**os.environ, **environment})
            self._running.add(child)
        try:
            out, err = child.communicate(timeout=time_limit)
            return (None if self.stopped else child.returncode), out, err
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return None, "", f"no end within {time_limit} s"
        finally:
            with self._lock:
                self._running.discard(child)

    def judge(self, jobs, environment=None):
        """Runs several jobs of one command in one run: a result for each, or None if the run was stopped."""
        arguments = [word for job in jobs for word in job.subject.arguments(self.build, self.interpreter)]
        # One job: several runs at once already use every core.
        passed = [word for name in environment or () for word in ("--env", name)]
        # A kernel that waits for ever does so in each of its calls.
        words = ["verify", *arguments, *jobs[0].command, *passed, "--jobs", "1", "--wall-deadline", "10", "--json", "-"]
        environment = {**(environment or {}), **jobs[0].subject.environment(self.build)}
        exit_code, out, err = self.run(words, TIME_LIMIT[jobs[0].level], environment)
        if self.stopped:
            return [None] * len(jobs)
        try:
            told = json.loads(out)["subjects"]
        except (ValueError, LookupError):
            told = []
        if len(jobs) == 1:
            return [condensed(exit_code, told[0] if told else None, err)]
        results = [condensed(0 if subject["conforms"] else 1, subject) for subject in told]
        whole = len(told) == len(jobs) and exit_code == max(result["exit_code"] for result in results)
        return results if whole else [self.judge([job])[0] for job in jobs]  # one of them ended the run

    def stop(self):
        with self._lock:
            self.stopped = True
            for child in self._running:
                child.terminate()


def batches(jobs):
    """Groups short jobs of the same command into runs: a start takes a third of the time of such a kernel."""
    open_batches, closed = {}, []
    for job in jobs:
        if not ASKED_LITTLE.intersection(job.options) or job.subject.set is PYTHON:
            closed.append([job])
            continue
        batch = open_batches.setdefault(job.command, [])
        batch.append(job)
        if len(batch) == TOGETHER:
            closed.append(open_batches.pop(job.command))
    return [*closed, *open_batches.values()]


def fingerprint(paths):
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes() if path.is_file() else b"absent")
    return digest.hexdigest()[:16]


class Kept:
    """Results by job, a line each, in a file named after the contents of the judging programs."""

    def __init__(self, build, fresh=False, program="ropecheck"):
        tool = [build / program, build / "ropecheck_host", ROOT / "golden" / "manifest.json"]
        self._build = build
        self._path = None if fresh else build / "judged" / f"{fingerprint(tool)}.jsonl"
        self._lock = threading.Lock()
        self._libraries = {}  # their fingerprints
        self._results = dict(self._read())

    def _read(self):
        lines = self._path.read_text().splitlines() if self._path and self._path.is_file() else []
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                pass  # the last line of a run that was killed

    def _key(self, job):
        library = job.subject.library
        if library not in self._libraries:
            self._libraries[library] = fingerprint([self._build / library])
        return " ".join([job.subject.name, self._libraries[library], *job.command])

    def get(self, job):
        return None if job.subject.set is PYTHON else self._results.get(self._key(job))

    def add(self, job, result):
        # A run may have no verdict because the machine was busy. A change of a Python module does not show in one file.
        if self._path is None or "no_verdict" in result or job.subject.set is PYTHON:
            return
        with self._lock:
            self._results[self._key(job)] = result
            self._path.parent.mkdir(exist_ok=True)
            with self._path.open("a") as lines:
                lines.write(json.dumps([self._key(job), result]) + "\n")
