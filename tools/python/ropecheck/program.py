"""Finds the ropecheck program: in the wheel, in the build folder of the source tree with this package, or in PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ropecheck.errors import RopecheckError

NAME = "ropecheck"
PACKAGE = Path(__file__).resolve().parent


def _in_path() -> Path | None:
    """The first program of this name in PATH. An installed package has a script of the same name, which asks us."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        candidate = Path(folder or ".") / NAME
        if candidate.is_file() and os.access(candidate, os.X_OK) and candidate.open("rb").read(4) == b"\x7fELF":
            return candidate
    return None


def path() -> Path:
    """The program, with ropecheck_host beside it. Raises RopecheckError if there is none."""
    if chosen := os.environ.get("ROPECHECK_PROGRAM"):
        if not Path(chosen).is_file():
            raise RopecheckError(f"the ropecheck program is not there: ROPECHECK_PROGRAM is {chosen}; expected a file")
        return Path(chosen)
    build = PACKAGE.parents[2] / "build" if len(PACKAGE.parents) > 2 else PACKAGE
    for candidate in (PACKAGE / "bin" / NAME, build / "release" / NAME):
        if candidate.is_file():
            return candidate
    if found := _in_path():
        return found
    raise RopecheckError(
        f"the ropecheck program is not there: looked in {PACKAGE / 'bin'}, in build/release of a source tree and in "
        "PATH; install the wheel, run `tools/run --version` in a clone, or set ROPECHECK_PROGRAM to the file"
    )


def environment() -> dict[str, str]:
    """The program's environment: this interpreter runs Python subjects, unless the user chose another."""
    result = dict(os.environ)
    result.setdefault("ROPECHECK_PYTHON", sys.executable)
    return result
