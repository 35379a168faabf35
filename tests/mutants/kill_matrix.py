#!/usr/bin/env python3
"""Writes KILL_MATRIX.md: which requirement, and which published test, rejects which mutant.

    kill_matrix.py BUILD_FOLDER                        all, into tests/mutants/KILL_MATRIX.md; an hour on two idle cores
    kill_matrix.py BUILD_FOLDER --level quick          the same in half of that: what level quick rejects is judged there
    kill_matrix.py BUILD_FOLDER MUTANT... --output F   these and the right kernel, into another file

Runs `ropecheck verify mutants.so#ID` and published_rules.py, and keeps what they said under
BUILD_FOLDER/kill_matrix, in a folder named after the contents of what said it: a run that was broken off goes on where
it stopped, and after a change everything is judged again. published_rules.py needs a Python with numpy (--python).
Exit codes: 0 written, 1 a kernel could not be judged, 2 the arguments cannot be right.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import kill
import matrix

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "impls"))
from rope_kernel import Library  # noqa: E402

ROOT = HERE.parents[1]
COMMITTED = HERE / "KILL_MATRIX.md"
TIME_LIMIT = 900  # seconds; the right kernel takes 15 on an idle core
TOGETHER = 20  # mutants in one run of published_rules.py, which prepares its cases once for all of them
PYTHONS = [sys.executable, "/usr/bin/python3", str(ROOT / "build/golden-venv/bin/python")]


def fingerprint(paths):
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def write(path, text):
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


class Cache:
    """A JSON file a kernel."""

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


def verdicts_of(report):
    """{requirement: verdict} of a report with one subject; ValueError where it is none."""
    try:
        requirements = json.loads(report)["subjects"][0]["requirements"]
        return {requirement["id"]: requirement["verdict"] for requirement in requirements}
    except (LookupError, TypeError) as error:
        raise ValueError(f"no report: {error!r}") from error


def named_in(report):
    """The class that the diagnosis of a report with one subject names first; empty where it names none."""
    candidates = json.loads(report)["subjects"][0].get("diagnosis", {}).get("candidates", [])
    return candidates[0]["class"] if candidates else ""


def verify(build, kernel, level):
    """{"verdicts": {requirement: verdict}, "named": class}, or a text that says why there is none."""
    command = [str(build / "ropecheck"), "verify", f"{build / 'mutants.so'}#{kernel}", "--level", level]
    command += ["--require", matrix.DEMANDED, "--json", "-"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
        verdicts = verdicts_of(done.stdout)
    except subprocess.TimeoutExpired:
        return f"{kernel}: no verdict within {TIME_LIMIT} s"
    except ValueError as error:
        return f"{kernel}: exit code {done.returncode}, {error}; {done.stderr.strip()[-300:]}"
    if (done.returncode == 1) != ("fail" in verdicts.values()) or done.returncode not in (0, 1):
        return f"{kernel}: exit code {done.returncode} does not go with its verdicts"
    if level == "quick" and done.returncode == 0 and kernel != kill.RIGHT:
        return verify(build, kernel, "full")
    return {"verdicts": verdicts, "named": named_in(done.stdout)}


def verify_all(build, kernels, cache, level, jobs):
    """Judges those that the cache has not; returns the problems."""
    missing = [kernel for kernel in kernels if cache.get(kernel) is None]
    problems = []
    print(f"verify: {len(kernels) - len(missing)} of {len(kernels)} kernels are judged already", flush=True)
    with ThreadPoolExecutor(jobs) as pool:
        # Kept as they come, not in order: what is done must not be lost to one that hangs.
        def judge(kernel):
            judged = verify(build, kernel, level)
            if isinstance(judged, str):
                problems.append(judged)
                return
            cache.put(kernel, judged)
            failed = sum(1 for verdict in judged["verdicts"].values() if verdict == "fail")
            print(f"  {kernel}: {failed} requirements reject it, {judged['named'] or 'no class'} is named", flush=True)

        list(pool.map(judge, missing))
    return problems


def python_with_numpy(given):
    for python in [given] if given else PYTHONS:
        try:
            if subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
                return python
        except OSError:
            continue
    return None


def published_all(build, kernels, cache, python, jobs):
    """As verify_all, for the published rules. Each kernel's entry holds the table of rules too."""
    missing = [kernel for kernel in kernels if cache.get(kernel) is None]
    print(f"published rules: {len(kernels) - len(missing)} of {len(kernels)} kernels are judged already", flush=True)
    for start in range(0, len(missing), TOGETHER):
        batch = missing[start : start + TOGETHER]
        print(f"  {batch[0]} .. {batch[-1]}", flush=True)
        output = build / "kill_matrix" / f"published.{os.getpid()}.json"
        command = [python, str(HERE / "published_rules.py"), str(build), *batch, "--json", str(output)]
        done = subprocess.run([*command, "--jobs", str(jobs)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return [f"published_rules.py: exit code {done.returncode}: {done.stderr.strip()[-600:]}"]
        report = json.loads(output.read_text(encoding="utf-8"))
        output.unlink()
        for kernel in batch:
            cache.put(kernel, {"rules": report["rules"], "verdicts": report["verdicts"][kernel]})
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="where ropecheck, ropecheck_host and mutants.so are")
    parser.add_argument("mutants", nargs="*", help="default: all")
    parser.add_argument("--output", type=Path, default=COMMITTED)
    parser.add_argument("--level", choices=("quick", "full"), default="full")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--python", help="a Python with numpy, for published_rules.py")
    parser.add_argument(
        "--pending", default="", help="ids, parted by commas: planted since BUILD was built, listed as not judged yet"
    )
    options = parser.parse_args()
    build = options.build.resolve()
    sentences = Library(build / "mutants.so").described()
    unknown = [mutant for mutant in options.mutants if mutant not in sentences]
    if unknown:
        parser.error(f"mutants.so has no {', '.join(unknown)}")
    if options.mutants and options.output == COMMITTED:
        parser.error(f"a part of the mutants would replace the whole of {COMMITTED.name}; give --output")
    python = python_with_numpy(options.python)
    if not python:
        parser.error(f"no numpy in {options.python or ', '.join(PYTHONS)}; install python3-numpy, or give --python")
    kernels = [name for name in sentences if not options.mutants or name in (kill.RIGHT, *options.mutants)]

    binaries = [build / name for name in ("ropecheck", "ropecheck_host", "mutants.so")]
    judges = [*binaries[2:], HERE / "published_rules.py", *sorted((HERE / "published").glob("*.py"))]
    by = fingerprint([*binaries, ROOT / "golden/manifest.json"])
    verified = Cache(build / "kill_matrix" / f"verify-{options.level}-{by}")
    published = Cache(build / "kill_matrix" / f"published-{fingerprint(judges)}")
    problems = published_all(build, kernels, published, python, options.jobs)
    problems += verify_all(build, kernels, verified, options.level, options.jobs)
    if problems:
        for problem in problems:
            print(f"kill_matrix.py: {problem}", file=sys.stderr)
        print(f"kill_matrix.py: {options.output.name} is not written; what was judged is kept", file=sys.stderr)
        return 1

    pending = [name for name in options.pending.split(",") if name]
    rows = []
    for name in kernels:
        judged = verified.get(name)
        rules = published.get(name)["verdicts"]
        rows.append(matrix.Mutant(name, sentences[name], judged["verdicts"], rules, judged["named"]))
    write(options.output, matrix.render(rows, published.get(kernels[0])["rules"], kill.RIGHT, pending, options.level))
    print(f"{options.output}: {len(rows) - 1} mutants")
    return 0


if __name__ == "__main__":
    sys.exit(main())
