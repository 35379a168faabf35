#!/usr/bin/env python3
"""Tries a portable wheel where nothing else is: bare_machines.py WHEEL [RELEASE...].

debootstrap makes a root folder of each release of Debian (default: bookworm and trixie) with Python and nothing more,
once, in build/portable/roots. The wheel is installed there without a network, and judges a kernel in C and one in numpy.
Exit codes: 0 all as expected, 1 not so, 3 no such root can be made here (it needs root, debootstrap and a network).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import roots
from roots import ROOT, ROOTS

EXAMPLES = ROOT / "examples"
CANNOT_START = 3
NUMPY = "numpy>=2,<3"  # downloaded here, because the bare machine has no network


def cannot(reason: str) -> None:
    print(f"bare_machines.py: {reason}", file=sys.stderr)
    sys.exit(CANNOT_START)


def root_of(release: str) -> Path:
    try:
        return roots.made(release, release, ("python3", "python3-venv"))
    except roots.Unavailable as error:
        cannot(str(error))


def downloaded(release: str, python: str) -> Path:
    """A folder with numpy for the release's Python."""
    folder = ROOTS / f"{release}-packages"
    if not folder.is_dir():
        scratch = folder.with_suffix(".part")
        got = subprocess.run([sys.executable, "-m", "pip", "-q", "download", "--no-deps", "--only-binary=:all:",
                              "--python-version", python, "--dest", str(scratch), NUMPY], capture_output=True, text=True)
        if got.returncode != 0:
            cannot(f"numpy for Python {python} cannot be downloaded: {got.stderr.strip().splitlines()[-1]}")
        scratch.rename(folder)
    return folder


def compiled(name: str, folder: Path) -> None:
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", f"-I{ROOT / 'impls' / 'include'}", "-o",
                    str(folder / f"{name}.so"), str(EXAMPLES / f"{name}.c"), "-lm"], check=True)


class BareMachine:
    """Commands in the root folder, without a network."""

    def __init__(self, release: str) -> None:
        self.folder = root_of(release)
        self.work = self.folder / "work"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        version = self.run("python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").stdout.strip()
        for package in downloaded(release, version).iterdir():
            shutil.copy(package, self.work)
        shutil.copy(WHEEL, self.work)
        for name in ("my_kernel", "broken_kernel"):
            compiled(name, self.work)
        shutil.copy(EXAMPLES / "python" / "numpy_kernel.py", self.work / "my_rope.py")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(roots.command(self.folder, *words, work="/work"), capture_output=True, text=True,
                              timeout=600, env={"PATH": "/work/venv/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8"})


class Wheel(unittest.TestCase):
    release = ""

    @classmethod
    def setUpClass(cls):
        cls.machine = BareMachine(cls.release)
        cls.works("python3", "-m", "venv", "venv")
        cls.works("pip", "-q", "install", "--no-index", "--find-links", "/work", Path(WHEEL).name)

    @classmethod
    def works(cls, *words):
        done = cls.machine.run(*words)
        assert done.returncode == 0, f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def judged(self, code, *words):
        done = self.machine.run("ropecheck", *words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_no_library_is_missing(self):
        programs = self.works("sh", "-c", "ls -d venv/lib/*/site-packages/ropecheck/bin/*ropecheck*").split()
        self.assertEqual(len(programs), 3)
        for program in programs:
            self.assertNotIn("not found", self.works("ldd", program))

    def test_every_built_in_conforms(self):
        text = self.judged(0, "verify", "--level", "quick")
        self.assertEqual(text.count(": conforms"), 5, text)
        self.assertNotIn("no golden files", text)

    def test_a_kernel_in_c(self):
        self.assertIn("conforms", self.judged(0, "verify", "./my_kernel.so", "--level", "quick"))
        text = self.judged(1, "verify", "./broken_kernel.so", "--level", "quick")
        self.assertIn("diagnosis: strides-memory-race", text)

    def test_a_kernel_in_numpy(self):
        self.assertIn("conforms", self.judged(0, "verify", "python:my_rope:rope", "--level", "quick"))

    def test_exit_codes(self):
        self.judged(2, "verify", "--no-such-option")
        self.judged(3, "verify", "./missing.so")
        self.judged(3, "verify", "python:no_module:rope")

    def test_the_package(self):
        self.works("python", "-c", "import my_rope, ropecheck\nassert ropecheck.verify(my_rope.rope, only='ROT-01')")


def of(release: str) -> type[unittest.TestCase]:
    return type(f"Wheel_{release}", (Wheel,), {"release": release})


def load_tests(loader, tests, pattern):
    return unittest.TestSuite(loader.loadTestsFromTestCase(of(release)) for release in RELEASES)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    WHEEL = str(Path(sys.argv[1]).resolve())
    RELEASES = sys.argv[2:] or ["bookworm", "trixie"]
    unittest.main(argv=sys.argv[:1], verbosity=2)
