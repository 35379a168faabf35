#!/usr/bin/env python3
"""Tries what is built for another architecture: other_machine.py [ARCH [TEST...]]; tools/wheel builds the programs.

qemu-user runs them for ARCH (default: aarch64). Tables, exact values and bounds must be the same bits here and there.
Kernels must conform, or fail if they are broken. The unit tests of reference/, impls/ and golden/ must pass. They are
built with Debian's cross compiler, because Debian's rapidcheck needs its C++ library.
Exit codes: 0 all as expected, 1 not so, 3 something is missing here.
"""

from __future__ import annotations

import filecmp
import json
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "portable")]

import packages  # noqa: E402
import pinned_environment  # noqa: E402

BUILD = ROOT / "build" / "portable"
HERE = platform.machine()
CANNOT_START = 3
# Calls of every family that files can carry, with tables and computed angles of every scaling rule.
CALLS = ("--level", "quick", "--expected", "--most-kb", "200")
KERNELS = ("half_split", "interleaved", "complex", "naive_matrix")
TESTED = ("reference", "impls", "golden")
# qemu keeps a record of every page, also of reserved ones: 19 GB for this requirement, whose rows lie gigabytes apart.
TOO_LARGE = "MEM-06"
# A worker that cannot have terabytes of addresses takes less memory, too.
ADDRESS_SPACE = "4G"
# A library with MPFR inside needs room for the variables of a thread.
ENVIRONMENT = "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=8192"


def cannot(reason: str) -> None:
    print(f"other_machine.py: {reason}", file=sys.stderr)
    sys.exit(CANNOT_START)


def emulator(arch: str) -> list[str]:
    if arch == HERE:
        return []
    return [f"qemu-{arch}", "-R", ADDRESS_SPACE, "-E", ENVIRONMENT, "-L", f"/usr/{arch}-linux-gnu"]


def runnable(arch: str, program: Path, folder: Path) -> list[str]:
    """The words that start a copy of the program. It finds a host of workers beside itself, which qemu runs, too."""
    folder.mkdir()
    host = shlex.join([*emulator(arch), str(program.parent / "ropecheck_host")])
    (folder / "ropecheck_host").write_text(f'#!/bin/sh\nexec {host} "$@"\n')
    (folder / "ropecheck_host").chmod(0o755)
    (folder / "golden").symlink_to(program.parent / "golden")
    return [*emulator(arch), shutil.copy(program, folder)]


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def libraries(arch: str) -> Path:
    """What the unit tests are linked with, unpacked once."""
    folder = BUILD / arch / "packages_for_tests"
    stamp, wanted = folder.with_suffix(".stamp"), pinned_environment.fingerprint(Path(packages.__file__))
    if not stamp.is_file() or stamp.read_text() != wanted:
        packages.make(arch, folder, for_tests=True)
        stamp.write_text(wanted)
    return folder


def wheel(arch: str) -> Path | None:
    return max((ROOT / "build" / "wheels").glob(f"*_{arch}.whl"), default=None)


def prepare(arch: str) -> None:
    """Ends with CANNOT_START if something is missing; inside a test that would count as a failure."""
    for needed, package in ((f"qemu-{arch}", "qemu-user"), (f"{arch}-linux-gnu-g++", f"g++-{arch}-linux-gnu")):
        if not shutil.which(needed):
            cannot(f"{needed} is missing (Debian package {package})")
    for each in (HERE, arch):
        if not wheel(each) or not (BUILD / each / "build" / "ropecheck").is_file():
            cannot(f"the programs for {each} are missing; run tools/wheel {each} first")
    try:
        libraries(arch)
    except packages.Unavailable as error:
        cannot(str(error))


class OtherMachine(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)

    def ropecheck(self, arch: str) -> list[str]:
        return runnable(arch, BUILD / arch / "build" / "ropecheck", self.scratch / arch)

    def succeeds(self, *words: str | Path) -> str:
        done = run(*words)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        return done.stdout

    def test_wheels_hold_the_same_files(self):
        wheels = [zipfile.ZipFile(wheel(arch)) for arch in (HERE, ARCH)]
        names = [set(each.namelist()) for each in wheels]
        self.assertEqual(names[0], names[1])
        different = {name for name in names[0] if wheels[0].read(name) != wheels[1].read(name)}
        compiled = {f"ropecheck/bin/{name}" for name in ("ropecheck", "ropecheck_host", "ropecheck_sandbox",
                                                         "libropecheck_faults.so")}
        self.assertEqual({name for name in different if ".dist-info/" not in name}, compiled)

    def test_tables_and_exact_values_are_the_same_bits(self):
        folders = [self.scratch / f"calls_{arch}" for arch in (HERE, ARCH)]
        for arch, folder in zip((HERE, ARCH), folders):
            self.succeeds(*self.ropecheck(arch), "vectors", "export", folder, *CALLS)
        names = files_of(folders[0])
        self.assertGreater(len(names), 1000)
        self.assertEqual(names, files_of(folders[1]))
        same, different, unread = filecmp.cmpfiles(*folders, names, shallow=False)
        self.assertEqual((different, unread), ([], []))

    def test_built_in_kernels_conform(self):
        ropecheck = self.ropecheck(ARCH)
        listed = json.loads(self.succeeds(*ropecheck, "list", "requirements", "--json"))
        asked = ",".join(each["id"] for each in listed if each["id"] != TOO_LARGE)
        for kernel in KERNELS:
            with self.subTest(kernel):
                report = self.scratch / f"{kernel}.json"
                self.succeeds(*ropecheck, "verify", kernel, "--level", "quick", "--only", asked, "--json", report)
                self.assertGreater(len(json.loads(report.read_text())["subjects"][0]["requirements"]), 50)

    def test_workers_judge_kernels_in_c(self):
        ropecheck = self.ropecheck(ARCH)
        for name, expected in {"my_kernel": 0, "broken_kernel": 1}.items():
            library = self.scratch / f"{name}.so"
            self.succeeds(f"{ARCH}-linux-gnu-gcc", "-shared", "-fPIC", "-O2", "-I", ROOT / "impls" / "include",
                          ROOT / "examples" / f"{name}.c", "-o", library, "-lm")
            done = run(*ropecheck, "verify", library, "--level", "quick", "--only", "ROT-01,MEM-01,MEM-02")
            self.assertEqual(done.returncode, expected, done.stdout)

    def test_unit_tests_pass(self):
        build = BUILD / ARCH / "tests"
        toolchain = ROOT / "cmake" / "PortableToolchain.cmake"
        self.succeeds("cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                      f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", f"-DROPECHECK_ARCH={ARCH}",
                      f"-DROPECHECK_PACKAGES={libraries(ARCH)}", "-DROPECHECK_CUDA=OFF",
                      f"-DROPECHECK_UNIT_TESTS={';'.join(TESTED)}")
        self.succeeds("cmake", "--build", build, "--target", "unit_tests")
        said = self.succeeds(*runnable(ARCH, build / "unit_tests", self.scratch / "unit_tests"))
        print(said.strip().splitlines()[-1], file=sys.stderr)


if __name__ == "__main__":
    ARCH = sys.argv.pop(1) if len(sys.argv) > 1 else "aarch64"
    prepare(ARCH)
    unittest.main(verbosity=2)
