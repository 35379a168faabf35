#!/usr/bin/env python3
"""What a whole run of verify takes: verify_bench.py BUILD [--level quick|full] [--runs N] [--library FILE]

The same kernel is judged built in and in a library, in turns, so other work on the machine slows down both. Memory is
what all processes of a run hold at a time: their own, and the shared memory that carries tensors, counted once. Prints a
table; docs/benchmarks.md keeps it. Linux only.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LEVELS = ("quick", "full")
PERIOD = 0.003  # seconds between two looks at the memory


@dataclass
class Runs:
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)


def with_children(process: int) -> Iterator[int]:
    yield process
    try:
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from with_children(int(child))
    except OSError:
        pass  # it has ended


def own_bytes(process: int) -> int:
    """Without shared memory. Pages of programs and libraries are counted by their shares."""
    sizes = {}
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name.startswith("Pss"):
            sizes[name] = int(rest.split()[0]) * 1024
    return sizes["Pss_Anon"] + sizes["Pss_File"]


def shared_bytes(process: int) -> dict[int, int]:
    """By its number, what each file in memory holds."""
    sizes = {}
    for file in Path(f"/proc/{process}/fd").iterdir():
        if "/memfd:" in os.readlink(file):
            status = file.stat()
            sizes[status.st_ino] = status.st_blocks * 512
    return sizes


def held_bytes(run: int) -> int:
    own, shared = 0, {}
    for process in with_children(run):
        try:
            own += own_bytes(process)
            shared |= shared_bytes(process)
        except (OSError, KeyError, ValueError):
            pass  # it has ended, or has just begun
    return own + sum(shared.values())


def judge(program: Path, subject: str, level: str, runs: Runs, watched: bool) -> None:
    """Times one run, or, if it is watched, its memory: looking at it takes time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    with subprocess.Popen([program, "verify", subject, "--level", level], stdout=subprocess.DEVNULL) as run:
        most = 0
        while watched and run.poll() is None:
            most = max(most, held_bytes(run.pid))
            time.sleep(PERIOD)
    seconds = time.monotonic() - start
    if run.returncode != 0:
        sys.exit(f"verify_bench: `{program} verify {subject} --level {level}` ended with exit code {run.returncode}")
    if watched:
        runs.megabytes.append(most / 1e6)
        return
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    runs.seconds.append(seconds)
    runs.cpu_seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--level", choices=LEVELS, action="append", help="default: both")
    parser.add_argument("--runs", type=int, default=9, help="of each subject; default: %(default)s")
    parser.add_argument("--library", type=Path, help="another library of one kernel; default: half_split's")
    options = parser.parse_args()
    program = options.build / "ropecheck"
    subjects = {"built in": "half_split", "in a library": str(options.library or options.build / "half_split_library.so")}
    print("| level | the kernel is | seconds, median | least | CPU seconds, least | MB at most |")
    print("| --- | --- | --- | --- | --- | --- |")
    for level in options.level or LEVELS:
        all_runs = {where: Runs() for where in subjects}
        for turn in range(options.runs + max(options.runs // 3, 1)):
            for where, subject in subjects.items():
                judge(program, subject, level, all_runs[where], watched=turn >= options.runs)
        for where, runs in all_runs.items():
            print(f"| {level} | {where} | {statistics.median(runs.seconds):.2f} | {min(runs.seconds):.2f} "
                  f"| {min(runs.cpu_seconds):.2f} | {max(runs.megabytes):.0f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
