"""Writes KILL_MATRIX.md: which requirement, and which published test, rejects which mutant.

published_rules.py runs beside ropecheck, with a Python that has numpy. Its results are kept under BUILD/kill_matrix, in
a folder named after the contents of the files that gave them.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from . import matrix
from .subjects import HERE, ROOT
from .verdicts import Job, fingerprint

COMMITTED = HERE / "KILL_MATRIX.md"
RIGHT = "none"
TOGETHER = 20  # mutants in one run of published_rules.py, which prepares its cases once for all of them
PYTHONS = [sys.executable, "/usr/bin/python3", str(ROOT / "build/golden-venv/bin/python")]


def write(path, text):
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


class PublishedVerdicts:
    """One JSON file for each kernel."""

    def __init__(self, folder):
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, kernel):
        try:
            return json.loads((self._folder / f"{kernel}.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None

    def put(self, kernel, value):
        write(self._folder / f"{kernel}.json", json.dumps(value))


def published_all(build, kernels, kept, python, threads):
    """Judges the kernels without kept verdicts; returns the problems. Each entry also has the table of rules."""
    missing = [kernel for kernel in kernels if kept.get(kernel) is None]
    print(f"published rules: {len(kernels) - len(missing)} of {len(kernels)} kernels are judged already", flush=True)
    for start in range(0, len(missing), TOGETHER):
        batch = missing[start : start + TOGETHER]
        print(f"  {batch[0]} .. {batch[-1]}", flush=True)
        output = build / "kill_matrix" / f"published.{os.getpid()}.json"
        command = [python, str(HERE / "published_rules.py"), str(build), *batch, "--json", str(output)]
        done = subprocess.run([*command, "--jobs", str(threads)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return [f"published_rules.py: exit code {done.returncode}: {done.stderr.strip()[-600:]}"]
        report = json.loads(output.read_text(encoding="utf-8"))
        output.unlink()
        for kernel in batch:
            kept.put(kernel, {"rules": report["rules"], "verdicts": report["verdicts"][kernel]})
    return []


def verified(runner, subject, level, kept):
    """A result with every requirement and the diagnosis; at level full if quick does not reject the kernel."""
    job = Job(subject, level, options=("--require", matrix.DEMANDED))
    result = kept.get(job)
    if result is None:
        (result,) = runner.judge([job])
        if result:
            kept.add(job, result)
    passes = result and "no_verdict" not in result and not result["failed"]
    if passes and level == "quick" and not subject.entry.right:
        return verified(runner, subject, "full", kept)
    return result


def verify_all(runner, subjects, level, kept, threads):
    """({kernel: result}, the problems)"""
    results, problems = {}, []
    with ThreadPoolExecutor(threads) as pool:
        judged = pool.map(lambda subject: verified(runner, subject, level, kept), subjects)
        for subject, result in zip(subjects, judged):
            if result is None or "no_verdict" in result:
                problems.append(f"{subject.kernel}: {result['no_verdict'] if result else 'interrupted'}")
                continue
            results[subject.kernel] = result
            print(f"  {subject.kernel}: {len(result['failed'])} requirements reject it, "
                  f"{named_in(result) or 'no class'} is named", flush=True)
    return results, problems


def named_in(result):
    """The class that the diagnosis names first; empty if it names none."""
    candidates = result.get("candidates")
    return candidates[0]["class"] if candidates else ""


def python_with_numpy(given):
    for python in [given] if given else PYTHONS:
        try:
            if subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
                return python
        except OSError:
            continue
    return None


def description_of(entry):
    return f"{entry.classes[0]}: {entry.sentence}" if entry.classes else entry.sentence


def write_page(runner, subjects, level, kept, output, python, pending=(), threads=2):
    """`subjects`: all kernels of mutants.so, the right one too. Returns problems; writes the page if there are none."""
    judges = [runner.build / "mutants.so", HERE / "published_rules.py", *sorted((HERE / "published").glob("*.py"))]
    published = PublishedVerdicts(runner.build / "kill_matrix" / f"published-{fingerprint(judges)}")
    kernels = [subject.kernel for subject in subjects]
    problems = published_all(runner.build, kernels, published, python, threads)
    results, others = verify_all(runner, subjects, level, kept, threads)
    if problems or others:
        return problems + others
    rows = [
        matrix.Mutant(s.kernel, description_of(s.entry), results[s.kernel]["verdicts"],
                      published.get(s.kernel)["verdicts"], named_in(results[s.kernel]))
        for s in subjects
    ]
    rules = published.get(kernels[0])["rules"]
    write(output, matrix.render(rows, rules, RIGHT, pending, level))
    print(f"{output}: {len(rows) - 1} mutants")
    return []
