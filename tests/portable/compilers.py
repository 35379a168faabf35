#!/usr/bin/env python3
"""Builds ropecheck with other compilers, warnings as errors: compilers.py [NAME...]; default: all.

clang-16 and clang-19 are Debian 12's packages. trixie-g++ and trixie-clang are Debian 13's compilers with Debian 13's
libraries, in a root folder that debootstrap makes once. Each build judges a kernel; one in the root folder also runs
unit tests. Builds are in build/NAME, their logs in build/NAME/compilers.log.
Exit codes: 0 all built and passed, 1 some did not, 2 bad usage, 3 the others passed, but these could not be tried here.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import roots
from roots import ROOT

FAILED, CANNOT_START = 1, 3
LAST_LINES = 60  # of a log, shown if the step fails
UNIT_TESTS = ("reference", "impls", "judge")  # folders below tests/unit


class Compiler(NamedTuple):
    name: str
    c: str
    cpp: str
    release: str = ""  # of Debian, in whose root folder it runs; empty: on this machine


COMPILERS = (
    Compiler("clang-16", "clang-16", "clang++-16"),
    Compiler("clang-19", "clang-19", "clang++-19"),
    Compiler("trixie-g++", "gcc", "g++", "trixie"),
    Compiler("trixie-clang", "clang", "clang++", "trixie"),
)


class Failed(Exception):
    """A step failed; the message says which, and how its output ends."""


def packages() -> list[str]:
    """What a root folder holds: all that a build with tests needs, clang, and what makes a build fast."""
    words = [line.split()[:2] for line in (ROOT / "tools" / "packages.txt").read_text().splitlines() if line.strip()]
    return [name for kind, name in words if kind in ("needed", "tests")] + ["clang", "ccache", "mold"]


class Machine:
    """Where a compiler runs: here, or in a root folder that shares the repository and ccache's folder with us."""

    def __init__(self, compiler: Compiler) -> None:
        self.folder = ROOT / "build" / compiler.name
        self.log = self.folder / "compilers.log"
        self.root = None
        self.variables = {**os.environ, "CC": compiler.c, "CXX": compiler.cpp}
        if compiler.release:
            self.root = roots.made(f"{compiler.release}-compilers", compiler.release, packages())
            cache = Path(os.environ.get("CCACHE_DIR", Path.home() / ".cache" / "ccache"))
            cache.mkdir(parents=True, exist_ok=True)
            self.shared = (ROOT, cache)
            self.variables |= {"CCACHE_DIR": str(cache), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8"}
        elif not shutil.which(compiler.cpp):
            raise roots.Unavailable(f"{compiler.cpp} is missing (Debian package {compiler.c})")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")

    def run(self, what: str, *words: str | Path) -> str:
        """The output, which is also in the log. It must succeed."""
        command = [str(word) for word in words]
        if self.root:
            command = roots.command(self.root, *command, work=ROOT, shared=self.shared)
        done = subprocess.run(command, cwd=ROOT, env=self.variables, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        with self.log.open("a") as log:
            log.write(f"{what}\n{done.stdout}\n")
        if done.returncode != 0:
            end = "\n".join(done.stdout.splitlines()[-LAST_LINES:])
            raise Failed(f"{what}: exit code {done.returncode}; all of it is in {self.log}\n{end}")
        return done.stdout

    def configure(self, unit_tests: str = "") -> None:
        self.run("configuring", "cmake", "--preset", "release", "-S", ROOT, "-B", self.folder,
                 "-DROPECHECK_WARNINGS_ARE_ERRORS=ON", f"-DROPECHECK_UNIT_TESTS={unit_tests}")


def tried(compiler: Compiler) -> str:
    """Builds everything, judges a kernel and runs unit tests. What was seen, in a line."""
    start = time.monotonic()
    machine = Machine(compiler)
    version = machine.run("asking for the version", compiler.cpp, "--version").splitlines()[0]
    machine.configure()
    machine.run("building", "cmake", "--build", machine.folder, "--target", "all", "--", "-k", "0")
    verdict = machine.run("judging", machine.folder / "ropecheck", "verify", "half_split", "--level", "quick")
    seen = [version, *(line.strip() for line in verdict.splitlines() if line.startswith("  half_split: "))]
    if machine.root:
        machine.configure(";".join(UNIT_TESTS))
        machine.run("linking the unit tests", "cmake", "--build", machine.folder, "--target", "unit_tests")
        seen.append(machine.run("running the unit tests", machine.folder / "unit_tests").strip().splitlines()[-1])
    return f"{'; '.join(seen)}; {time.monotonic() - start:.0f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [compiler.name for compiler in COMPILERS]
    parser.add_argument("name", nargs="*", help=f"of {', '.join(names)}; default: all")
    wanted = parser.parse_args().name or names
    unknown = [name for name in wanted if name not in names]
    if unknown:
        parser.error(f"unknown compiler {unknown[0]}; expected one of {', '.join(names)}")
    code = 0
    for compiler in COMPILERS:
        if compiler.name not in wanted:
            continue
        try:
            print(f"{compiler.name}: passed: {tried(compiler)}", flush=True)
        except Failed as error:
            print(f"{compiler.name}: FAILED: {error}", flush=True)
            code = FAILED
        except roots.Unavailable as error:
            print(f"{compiler.name}: left out: {error}", flush=True)
            code = code or CANNOT_START
    return code


if __name__ == "__main__":
    sys.exit(main())
