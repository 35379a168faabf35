#!/usr/bin/env python3
"""Compares the portable programs of two architectures: other_machine.py [ARCH]; tools/wheel builds them.

qemu-user runs the programs for ARCH (default: aarch64). Tables, exact values and bounds must be the same here and
there, bit for bit; the kernels must conform. Exit codes: 0 all as expected, 1 not so, 3 something is missing here.
"""

from __future__ import annotations

import filecmp
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(__file__).resolve().parents[2] / "build" / "portable"
HERE = platform.machine()
CANNOT_START = 3
# Calls of every family that files can carry, with tables and computed angles of every scaling rule.
CALLS = ("--level", "quick", "--expected", "--most-kb", "200")
KERNELS = ("half_split", "interleaved", "complex", "naive_matrix")


def program(arch: str) -> list[str]:
    path = BUILD / arch / "build" / "ropecheck"
    if not path.is_file():
        print(f"other_machine.py: {path} is missing; run tools/wheel {arch} first", file=sys.stderr)
        sys.exit(CANNOT_START)
    emulator = [] if arch == HERE else [f"qemu-{arch}", "-L", f"/usr/{arch}-linux-gnu"]
    if emulator and not shutil.which(emulator[0]):
        print(f"other_machine.py: {emulator[0]} is missing (Debian package qemu-user)", file=sys.stderr)
        sys.exit(CANNOT_START)
    return [*emulator, str(path)]


def run(arch: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*program(arch), *words], capture_output=True, text=True)


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


class OtherMachine(unittest.TestCase):
    def test_tables_and_exact_values_are_the_same_bits(self):
        with tempfile.TemporaryDirectory() as scratch:
            folders = [Path(scratch) / arch for arch in (HERE, ARCH)]
            for arch, folder in zip((HERE, ARCH), folders):
                done = run(arch, "vectors", "export", str(folder), *CALLS)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            names = files_of(folders[0])
            self.assertGreater(len(names), 1000)
            self.assertEqual(names, files_of(folders[1]))
            same, different, unread = filecmp.cmpfiles(*folders, names, shallow=False)
            self.assertEqual((different, unread), ([], []))

    def test_kernels_conform(self):
        for kernel in KERNELS:
            done = run(ARCH, "verify", kernel, "--level", "quick", "--json", "-")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertGreater(len(json.loads(done.stdout)["subjects"][0]["requirements"]), 50)


if __name__ == "__main__":
    ARCH = sys.argv.pop(1) if len(sys.argv) > 1 else "aarch64"
    unittest.main(verbosity=2)
