#!/usr/bin/env python3
"""Judges the two workers by the commands that they give: check_workers.py BUILD_FOLDER

Each must conform unchanged, with every claim tested, and must be rejected with one sign changed. Exit codes: 0 all
holds, 1 not so.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_LINES = 79
# The sign of the sine in the second feature; the pair is then reflected, not turned.
WRONG_SIGN = {"worker.c": ("* c[p] + x[p] * s[p]", "* c[p] - x[p] * s[p]"),
              "worker.py": ("b * c + a * s", "b * c - a * s")}
# Requirements that must have run: a worker that claims too little would pass by saying nothing.
ASKED = {"ROT-01", "ROT-04", "ROT-08", "POS-01", "SHP-01", "DET-01", "GLD-01"}
problems = []


def expect(holds, problem):
    if not holds:
        problems.append(problem)


def commands_of(text):
    return re.findall(r"^ \*? {3,}((?:cc|tools/run) .*)$", text, re.MULTILINE)


def judged(name, source, folder, build):
    """The verdicts on a worker with this source, built and judged as its own first lines say."""
    (folder / "examples").mkdir(exist_ok=True)
    (folder / "examples" / name).write_text(source)
    environment = {**os.environ, "PATH": f"{build}:{os.environ['PATH']}"}
    for command in commands_of(source):
        command = command.replace("-o worker", "-Wall -Wextra -Wpedantic -Werror -o worker")
        if command.startswith("tools/run"):
            command = command.replace("tools/run", "ropecheck") + " --level quick --json report.json"
        result = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True,
                                check=False)
    said = f"exit code {result.returncode}\n{result.stdout}{result.stderr}"
    report = folder / "report.json"
    if not report.is_file():
        sys.exit(f"check_workers.py: {name}: no verdict: {said}")
    requirements = json.loads(report.read_text())["subjects"][0]["requirements"]
    report.unlink()
    return result.returncode, {r["id"]: r["verdict"] for r in requirements}, said


def main():
    build = Path(sys.argv[1]).resolve()
    page = (ROOT / "examples/README.md").read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for worker, (right, wrong) in WRONG_SIGN.items():
            source = (ROOT / "examples" / worker).read_text()
            expect(source.count("\n") <= MOST_LINES, f"{worker} has more than {MOST_LINES} lines")
            expect(source.count(right) == 1, f"{worker} does not hold \"{right}\" once")
            for command in commands_of(source):
                expect(f"    {command}\n" in page, f"examples/README.md does not give {worker}'s command: {command}")
            code, verdicts, said = judged(worker, source, folder, build)
            expect(code == 0, f"{worker} does not conform: {said}")
            passed = {requirement for requirement, verdict in verdicts.items() if verdict == "pass"}
            expect(ASKED <= passed, f"{worker}: {sorted(ASKED - passed)} did not pass: {said}")
            code, verdicts, said = judged(worker, source.replace(right, wrong), folder, build)
            expect(code == 1 and verdicts["ROT-01"] == "fail", f"{worker} with a wrong sign is not rejected: {said}")
    for problem in problems:
        print(f"check_workers.py: {problem}", file=sys.stderr)
    print(f"workers: {len(problems)} not as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
