"""Finds the ropecheck program: in the wheel, or in the build folder of the source tree with this package."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ropecheck.errors import RopecheckError

NAME = "ropecheck"
PACKAGE = Path(__file__).resolve().parent


def folder() -> Path | None:
    """The folder of ropecheck and ropecheck_host; None if there is none. $ROPECHECK_PROGRAM names another program."""
    if chosen := os.environ.get("ROPECHECK_PROGRAM"):
        return Path(chosen).resolve().parent
    build = PACKAGE.parents[2] / "build" if len(PACKAGE.parents) > 2 else PACKAGE
    for candidate in (PACKAGE / "bin", build / "release"):
        if (candidate / NAME).is_file():
            return candidate
    return None


def path() -> Path:
    """The program. Raises RopecheckError if it was not built."""
    if chosen := os.environ.get("ROPECHECK_PROGRAM"):
        return Path(chosen)
    found = folder()
    if found is None:
        raise RopecheckError(
            f"the ropecheck program is not there: neither in {PACKAGE / 'bin'}, where an installed package has it, nor "
            "in build/release of a source tree; run `pip install .` in the source tree, or `tools/run --version`"
        )
    return found / NAME


def environment() -> dict[str, str]:
    """The program's environment: this interpreter runs Python subjects, unless the user chose another."""
    result = dict(os.environ)
    result.setdefault("ROPECHECK_PYTHON", sys.executable)
    return result
