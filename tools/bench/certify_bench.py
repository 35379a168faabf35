#!/usr/bin/env python3
"""What a sweep over positions costs beside the kernel: certify_bench.py ROPECHECK [--positions N] [--subject NAME]

Certifies the positions of a head of 128 features in one process, once for each dtype. The kernel's own time is measured
in the same calls, so other work on the machine slows down both. A second run with two processes shows how well the work
is shared. Prints a table; docs/benchmarks.md keeps it.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

DTYPES = ("f32", "bf16", "f16")
PAIRS = 64


def certify(options, folder, dtype, jobs):
    """The seconds of the run, and the lines of times.jsonl."""
    start = time.monotonic()
    subprocess.run([options.ropecheck, "certify", options.subject, "--out", folder, "--head-dim", "128", "--dtype", dtype,
                    "--sweep", "positions", "--positions", str(options.positions), "--jobs", str(jobs)],
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    seconds = time.monotonic() - start
    return seconds, [json.loads(line) for line in (folder / "times.jsonl").read_text().splitlines()]


def row_of(options, dtype):
    """positions, ns a pair in all, ns a pair in the kernel, their ratio, and one process over two."""
    with tempfile.TemporaryDirectory() as name:
        one, lines = certify(options, Path(name) / "one", dtype, 1)
        two, _ = certify(options, Path(name) / "two", dtype, 2)
        sweeps = json.loads((Path(name) / "one" / "certificate.json").read_text())["sweeps"]
    positions = sum(sweep["checked"] for sweep in sweeps)
    kernel = sum(line["kernel_seconds"] for line in lines)
    to_ns = 1e9 / (positions * PAIRS)
    return positions, one * to_ns, kernel * to_ns, one / kernel, one / two


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ropecheck", type=Path)
    parser.add_argument("--positions", type=int, default=2**20)
    parser.add_argument("--subject", default="half_split")
    options = parser.parse_args()
    print("| positions of | positions | ns a pair | of that in the kernel | ratio | one process over two |")
    print("| --- | --- | --- | --- | --- | --- |")
    for dtype in DTYPES:
        positions, all_of_it, kernel, ratio, shared = row_of(options, dtype)
        print(f"| {dtype} | {positions} | {all_of_it:.1f} | {kernel:.1f} | {ratio:.2f} | {shared:.2f} |", flush=True)


if __name__ == "__main__":
    main()
